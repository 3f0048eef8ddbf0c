"""Providers outside, one file each. Never called inside a unit of work."""
