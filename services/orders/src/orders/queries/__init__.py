"""Reads for GET: SQL to rows in the public shape (contract sections 6 and 11)."""
