"""Response models, one module for each noun."""
