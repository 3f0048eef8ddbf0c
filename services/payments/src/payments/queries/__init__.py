"""Reads for GET: SQL to plain dicts in the public shape (contract section 15.8), one module for each noun."""
