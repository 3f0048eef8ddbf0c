"""Reads for GET: typed records and their public shape."""
