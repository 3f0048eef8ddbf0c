"""Responses that are identical for all callers: documents and pages in this package.

**The documents in `pages/` are generated from the code** (`make documents`; tests keep them fresh). `BASE_URL`
replaces the documented address. No service is needed to serve them. The viewer is Swagger UI as published, under a
content policy without `unsafe-inline` and `unsafe-eval`.
"""

import hashlib
import json
from functools import cached_property
from importlib import resources

from api_gateway.call import Call
from api_gateway.compression import ENCODED, VARIES, accepted_codings, compressed
from api_gateway.frame import DOCUMENTED_BASE_URL
from api_gateway.headers import Headers, etag_matches, with_page_policy


class StaticPage:
    """A body with its ETag, compressed once, at the first request. A client that has it gets 304.

    The page of an error (`status`) is neither cached nor revalidated.
    """

    def __init__(
        self, body: bytes, media_type: bytes, *, max_age_seconds: int, is_page: bool = False, status: int = 200
    ) -> None:
        self._body, self._media_type, self._is_page, self._status = body, media_type, is_page, status
        # Weak: the plain and the compressed form share it.
        self._tag = b'W/"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
        self._cache_control = b"public, max-age=%d" % max_age_seconds

    @cached_property
    def _compressed(self) -> bytes:
        return compressed(self._body, is_shared=True)

    async def __call__(self, call: Call) -> None:
        if self._is_page:
            call.extra = with_page_policy(call.extra)
        headers: Headers = [VARIES]
        if self._status == 200:
            headers.append((b"etag", self._tag))
            if not call.is_private:
                headers.append((b"cache-control", self._cache_control))
            if etag_matches(self._tag, call.headers.get(b"if-none-match")):
                await call.start(304, headers)
                await call.send({"type": "http.response.body", "body": b""})
                return
        headers.append((b"content-type", self._media_type))
        body = self._body
        if accepted_codings(call.headers.get(b"accept-encoding")).compresses(len(body)):
            headers.append(ENCODED)
            body = self._compressed
        await call.respond(self._status, headers, body)


def served_at(base_url: str, document: bytes) -> bytes:
    """Replace the base address in a document of this package by the gateway's."""
    return document.replace(DOCUMENTED_BASE_URL.encode(), json.dumps(base_url)[1:-1].encode())


def page_file(name: str) -> bytes:
    """Return a file of the folder `pages`."""
    return resources.files("api_gateway").joinpath("pages", name).read_bytes()
