"""Reads for GET: SQL to dicts in the response shape (contract section 12), one module for each noun."""
