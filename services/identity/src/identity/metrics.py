"""What this service shows on /metrics beside what all do."""

from prometheus_client import Gauge

SIGNING_KEY_TIME = Gauge(
    "identity_signing_key_timestamp_seconds", "Since when the key that signs tokens now has signed, Unix time."
)
ERASURE_OPEN_SECONDS = Gauge(
    "identity_erasure_open_seconds",
    "Age of the oldest request to be erased on which a service has not said its word yet. 0 when it owes none.",
    ["awaits"],
)
