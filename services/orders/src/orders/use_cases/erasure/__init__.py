"""The erasure of a user."""
