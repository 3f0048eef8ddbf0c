"""SQL for writes, and the reads that a write decides on. Each function runs as whoever opened the unit of work."""
