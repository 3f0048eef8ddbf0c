"""What every HTTP client of a process trusts."""

import ssl
from functools import cache

import httpx


@cache
def client_tls() -> ssl.SSLContext:
    """The one context of this process: reading the authorities takes 30 ms and a megabyte, each time that it is done."""
    return httpx.create_ssl_context()
