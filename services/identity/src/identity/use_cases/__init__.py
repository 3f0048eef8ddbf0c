"""The operations of the service, one a file."""
