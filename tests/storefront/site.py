"""The built storefront on a port of its own, served as a static host does: compressed, and every path is the page."""

import gzip
import mimetypes
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
NODE_MISSING: Final = "The storefront's tests need Node 20.19 or newer with npm (https://nodejs.org)"

mimetypes.add_type("application/manifest+json", ".webmanifest")


def has_node() -> bool:
    """Return whether the storefront can be built on this machine."""
    return shutil.which("npm") is not None


def build_storefront(folder: Path, api_url: str) -> None:
    """Build the storefront for the API at this address. Raises CalledProcessError."""
    environment = {**os.environ, "VITE_API_URL": api_url}
    subprocess.run([ROOT / "tools" / "storefront", "build", folder], env=environment, check=True)


@dataclass
class Site:
    """A served storefront. `sent`: the bytes of each body so far, compressed, those for the service worker included."""

    origin: str = ""
    sent: list[int] = field(default_factory=list)


class _StaticFile(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, folder: Path, site: Site, *connection: object) -> None:
        self._folder = folder
        self._site = site
        super().__init__(*connection)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        file = self._folder / path.lstrip("/")
        if not file.is_file():
            file = self._folder / "index.html"
        content = gzip.compress(file.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", mimetypes.guess_type(file.name)[0] or "application/octet-stream")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        # As `vite preview` does.
        self.send_header("Vary", "Origin")
        self.send_header("Cache-Control", "max-age=31536000" if "/assets/" in path else "no-cache")
        self.end_headers()
        self.wfile.write(content)
        self._site.sent.append(len(content))

    def log_message(self, *_: object) -> None:
        """Silence the log of requests on standard error."""


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    """Serve a built storefront."""
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_StaticFile, folder, site))
    server.daemon_threads = True
    site.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="storefront")
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
