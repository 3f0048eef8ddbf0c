"""The HTTP doors of the service."""
