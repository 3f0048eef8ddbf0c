"""Readiness of a process."""

import http.client


def responds_ready(port: int) -> bool:
    """Return whether the process on this port reports readiness."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/readiness")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
