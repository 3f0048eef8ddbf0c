"""The console: a browser back office for staff and vendors. It is a client of the public API and holds no data."""
