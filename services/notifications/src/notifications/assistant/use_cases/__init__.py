"""Conversations with the assistant."""

__all__ = [
    "open_turn",
    "query_model",
    "remove_conversation",
    "run_turn",
]

STEPS = ("save_turn",)
