"""Request the readiness of this container's process: status 0 when it is ready.

Few imports, because it runs every few seconds in every container. `METRICS_PORT` is set where health has a port of its
own, `HEALTH_PATH` where a program uses another path. With INSIDE_CERTIFICATE_FILE the port speaks TLS.
"""

import os
import socket
import sys

port = int(os.environ.get("METRICS_PORT") or os.environ["PORT"])
path = os.environ.get("HEALTH_PATH", "/health/readiness")
with socket.create_connection(("127.0.0.1", port), timeout=4) as plain:
    connection = plain
    if os.environ.get("INSIDE_CERTIFICATE_FILE"):
        import ssl

        # The certificate names the service, and this is its own process.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(plain)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    status = connection.makefile("rb").readline()
if b" 200 " not in status:
    sys.exit(f"{path} returned {status.decode(errors='replace').strip()}")
