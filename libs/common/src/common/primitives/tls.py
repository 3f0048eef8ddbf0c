"""The TLS trust of all HTTP clients of a process."""

import ssl
from functools import cache

import httpx


@cache
def client_tls() -> ssl.SSLContext:
    """Return the TLS context that all clients share: each load of the certificate authorities takes 30 ms and a
    megabyte.
    """
    return httpx.create_ssl_context()
