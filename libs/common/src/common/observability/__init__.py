"""Logs, metrics, traces, and logging of outages."""

__all__ = [
    "logging",
    "outages",
    "sampling",
    "telemetry",
]
