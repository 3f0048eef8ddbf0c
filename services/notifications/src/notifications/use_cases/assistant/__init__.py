"""Conversations with the assistant."""

__all__ = [
    "answer_turn",
    "open_turn",
    "query_model",
    "remove_conversation",
]

STEPS = ("save_turn",)
