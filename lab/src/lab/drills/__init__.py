"""Drills of operating: a system of its own is lost and restored, upgraded under load, or given other secrets."""
