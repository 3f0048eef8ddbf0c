"""`make bench`: each hot path beside the limit that it could reach, alternately, in one run (docs/performance.md)."""
