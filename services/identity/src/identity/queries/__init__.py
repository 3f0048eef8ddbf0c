"""Reads for GET: rows in their public shape."""
