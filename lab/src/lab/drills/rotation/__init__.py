"""The drills of the runbooks that replace secrets: with an overlap of old and new, and at once when a key is known to others."""
