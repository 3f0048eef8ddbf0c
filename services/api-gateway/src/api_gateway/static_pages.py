"""Answers that are the same bytes for everybody: the documents and pages that lie beside this code."""

import gzip
import hashlib
from importlib import resources
from typing import Final

from api_gateway.call import Call
from api_gateway.headers import Headers, with_page_policy

# Below this a compressed body saves no packet.
_COMPRESSED_FROM_BYTES: Final = 1024


class StaticPage:
    """A body, compressed once, with its tag: whoever has it already is answered 304."""

    def __init__(self, body: bytes, media_type: bytes, *, seconds_kept: int, is_page: bool = False) -> None:
        self._body, self._media_type, self._is_page = body, media_type, is_page
        self._compressed = (
            gzip.compress(body, compresslevel=6, mtime=0) if len(body) >= _COMPRESSED_FROM_BYTES else None
        )
        # Weak: the same for the plain and for the compressed form.
        self._tag = b'W/"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
        self._cache_control = b"public, max-age=%d" % seconds_kept

    async def __call__(self, call: Call) -> None:
        if self._is_page:
            call.extra = with_page_policy(call.extra)
        headers: Headers = [(b"etag", self._tag), (b"vary", b"accept-encoding")]
        if not call.is_private:
            headers.append((b"cache-control", self._cache_control))
        if self._tag in call.headers.get(b"if-none-match", b""):
            await call.start(304, headers)
            await call.send({"type": "http.response.body", "body": b""})
            return
        headers.append((b"content-type", self._media_type))
        body = self._body
        if self._compressed is not None and _takes_gzip(call.headers.get(b"accept-encoding", b"")):
            headers.append((b"content-encoding", b"gzip"))
            body = self._compressed
        await call.answer(200, headers, body)


def page_file(name: str) -> bytes:
    """A file of the folder `pages`."""
    return resources.files("api_gateway").joinpath("pages", name).read_bytes()


def _takes_gzip(accepted: bytes) -> bool:
    for offer in accepted.lower().split(b","):
        name, _, weight = offer.partition(b";")
        if name.strip() == b"gzip":
            return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
