"""Server-sent events, for every context that streams."""
