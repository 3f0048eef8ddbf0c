"""Metrics of the identity service."""

from prometheus_client import Gauge

SIGNING_KEY_TIME = Gauge(
    "identity_signing_key_timestamp_seconds", "Time since when the current key signs tokens, Unix time."
)
ERASURE_OPEN_SECONDS = Gauge(
    "identity_erasure_open_seconds",
    "Age of the oldest erasure request that a service has not evaluated yet. 0 without one.",
    ["awaits"],
)
