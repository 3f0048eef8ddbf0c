"""What the service can do, one verb a file."""
