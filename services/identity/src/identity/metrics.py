"""Metrics of the identity service."""

from prometheus_client import Counter, Gauge

SIGNING_KEY_TIME = Gauge(
    "identity_signing_key_timestamp_seconds", "Time since when the current key signs tokens, Unix time."
)
ERASURE_OPEN_SECONDS = Gauge(
    "identity_erasure_open_seconds",
    "Age of the oldest erasure request that a service has not evaluated yet. 0 without one.",
    ["awaits"],
)
GUESSED_ACCOUNTS = Gauge(
    "identity_guessed_accounts",
    "Addresses, known or not, with a wrong password or a wrong code within the last hour.",
    ["by"],
)
MESSAGES_REFUSED = Counter(
    "identity_messages_refused",
    "Requests of codes beyond a budget: of a mailbox (mail), account, number, address, prefix, or all texts (total).",
    ["budget"],
)
