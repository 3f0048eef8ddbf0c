"""Drills of the people on call: one runs at a time, none in production; its times are recorded once, at its end."""
