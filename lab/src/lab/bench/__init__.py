"""`make bench`: measure each hot path and its limit alternately in one run (docs/performance.md)."""
