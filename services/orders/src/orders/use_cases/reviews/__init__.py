"""Reviews of products."""

__all__ = [
    "hide_review",
    "post_review",
    "restore_review",
]
