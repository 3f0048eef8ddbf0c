"""Reviews of vendors and products."""

__all__ = [
    "hide_review",
    "post_review",
    "restore_review",
]
