"""Rotating what the specification wants rotated (Authentication 9), while the system runs."""
