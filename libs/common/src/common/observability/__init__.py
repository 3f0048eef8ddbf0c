"""Logs, metrics, traces, and logging of outages."""

__all__ = [
    "access_log",
    "logging",
    "outages",
    "sampling",
    "telemetry",
]
