"""Drills of the runbooks that replace secrets: with an overlap, and at once for a compromised key."""
