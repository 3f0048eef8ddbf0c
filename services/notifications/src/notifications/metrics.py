"""What this service counts beside what every service counts."""

from prometheus_client import Counter

ASSISTANT_REPLIES = Counter(
    "notifications_assistant_replies_total",
    "Messages to the assistant by what became of them.",
    ["provider", "outcome"],
)
ASSISTANT_TOKENS = Counter(
    "notifications_assistant_tokens_total", "Tokens of replies that were kept, as the provider counts them.", ["kind"]
)
