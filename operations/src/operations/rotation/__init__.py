"""Rotation of secrets while the system runs (specification: Authentication 9)."""
