"""Installation of the system on one machine, without containers (docs/operating.md)."""
