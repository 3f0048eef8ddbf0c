"""SQL for writes, and the reads that a write decides on. Each function runs as the caller of its unit of work."""
