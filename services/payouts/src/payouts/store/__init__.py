"""SQL for writes. Every function runs in its caller's unit of work; no decision is made here."""
