"""Push devices."""
