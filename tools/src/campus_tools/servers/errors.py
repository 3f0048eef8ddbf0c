"""Errors of finding or starting a server."""


class ServerUnavailable(Exception):
    """A server could be neither found nor started; the message names the remedy."""
