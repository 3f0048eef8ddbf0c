"""Open obligations that block a user's erasure."""
