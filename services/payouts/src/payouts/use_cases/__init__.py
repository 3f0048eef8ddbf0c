"""The operations of this service, one per module."""
