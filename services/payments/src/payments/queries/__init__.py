"""Reads for GET: SQL to plain dicts in the public shape (contract section 12), one module for each noun."""
