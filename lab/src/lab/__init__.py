"""Experiments on a whole system: bench, soak, drills, fuzz, cluster check."""
