"""What the service can do: one verb, one file."""
