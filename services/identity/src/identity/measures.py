"""What this service shows on /metrics beside what all do."""

from prometheus_client import Gauge

SIGNING_KEY_TIME = Gauge(
    "identity_signing_key_timestamp_seconds", "Since when the key that signs tokens now has signed, Unix time."
)
