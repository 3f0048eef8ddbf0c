"""Request bodies, one module for each noun."""
