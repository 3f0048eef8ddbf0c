"""The stylesheet and scripts: read at the start, compressed once, and kept by browsers under the hash of their
content.
"""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

FOLDER: Final = Path(__file__).parent / "static"
_KEPT: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    compressed: bytes
    media_type: str
    digest: str


class Assets:
    """The files of `static/`."""

    def __init__(self) -> None:
        self._by_name = {path.name: _read(path) for path in sorted(FOLDER.iterdir()) if path.is_file()}

    def url(self, name: str) -> str:
        """Return the address of a file; it changes with the content."""
        return f"/static/{self._by_name[name].digest}/{name}"

    async def respond(self, request: Request) -> Response:
        asset = self._by_name.get(request.path_params["name"])
        if asset is None:
            return Response(status_code=404)
        headers = {"Cache-Control": _KEPT, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                asset.compressed, media_type=asset.media_type, headers={**headers, "Content-Encoding": "gzip"}
            )
        return Response(asset.content, media_type=asset.media_type, headers=headers)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    # Without a time: the same content makes the same bytes.
    return Asset(content, gzip.compress(content, mtime=0), media_type, hashlib.sha256(content).hexdigest()[:12])
