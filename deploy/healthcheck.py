"""Asks the process of this container whether it is ready: status 0 when it says so.

Imports next to nothing: it runs every few seconds in every container. `METRICS_PORT` is set where health is answered apart from
the public port; `HEALTH_PATH` where a program calls it otherwise.
"""

import os
import socket
import sys

port = int(os.environ.get("METRICS_PORT") or os.environ["PORT"])
path = os.environ.get("HEALTH_PATH", "/health/readiness")
with socket.create_connection(("127.0.0.1", port), timeout=4) as connection:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    status = connection.makefile("rb").readline()
if b" 200 " not in status:
    sys.exit(f"{path} answers {status.decode(errors='replace').strip()}")
