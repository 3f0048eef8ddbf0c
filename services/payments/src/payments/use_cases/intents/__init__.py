"""Payment intents and their attempts."""

__all__ = [
    "prepare_intent",
    "query_unpaid_attempts",
    "start_payment",
]

STEPS = ("record_failed_payment",)
