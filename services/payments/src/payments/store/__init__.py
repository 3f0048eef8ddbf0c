"""SQL of the use cases, one module for each area. It decides nothing, and returns typed records."""
