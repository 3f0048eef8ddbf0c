"""Experiments on a whole system: bench, capacity, soak, drills, fuzz, cluster check."""
