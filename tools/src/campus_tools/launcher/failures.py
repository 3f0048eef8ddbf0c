"""Errors of a start."""


class StartFailed(Exception):
    """The system did not start; the message has the reason and the remedy."""
