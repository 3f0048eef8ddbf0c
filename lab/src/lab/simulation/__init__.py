"""Seeded schedules of the whole marketplace on a virtual clock: plans, steps, shrinking, verdicts (decision 74)."""
