"""Errors of a start."""


class StartFailed(Exception):
    """The system did not start; the message says why and what to do."""
