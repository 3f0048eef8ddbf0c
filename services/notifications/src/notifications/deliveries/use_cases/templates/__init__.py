"""The approved templates of the messaging app."""

__all__ = [
    "compare_templates",
    "push_templates",
]
