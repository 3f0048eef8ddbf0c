"""Clients of external providers, one module each. No call inside a unit of work."""
