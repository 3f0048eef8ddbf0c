"""Logs, metrics, traces, and logging of outages."""
