"""Readiness of a process."""

import http.client
import ssl


def responds_ready(port: int, authorities: str = "") -> bool:
    """Return whether the process on this port reports readiness; over TLS with a file of `authorities`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    if authorities:
        trust = ssl.create_default_context(cafile=authorities)
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trust)
    try:
        connection.request("GET", "/health/readiness")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
