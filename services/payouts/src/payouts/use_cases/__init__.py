"""What this service can do: one verb, one file."""
