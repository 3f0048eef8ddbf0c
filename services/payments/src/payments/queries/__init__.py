"""Reads for GET: SQL to response models (contract section 12), one module for each noun."""
