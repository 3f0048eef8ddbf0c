"""Metrics of this service."""

from prometheus_client import Counter

ASSISTANT_REPLIES = Counter(
    "notifications_assistant_replies_total",
    "Messages to the assistant by provider and outcome.",
    ["provider", "outcome"],
)
ASSISTANT_TOKENS = Counter(
    "notifications_assistant_tokens_total", "Tokens of saved replies, as the provider reports them.", ["kind"]
)
WEBHOOK_ATTEMPTS = Counter(
    "notifications_webhook_attempts_total", "Attempts to send an event to a webhook endpoint by outcome.", ["outcome"]
)
