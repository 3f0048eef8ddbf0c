"""Answers that are the same bytes for everybody: the documents and pages that lie beside this code."""

import hashlib
from importlib import resources

from api_gateway.call import Call
from api_gateway.compression import ENCODED, VARIES, accepted_codings, compressed
from api_gateway.headers import Headers, tag_is_known, with_page_policy


class StaticPage:
    """A body, compressed once, with its tag: whoever has it already is answered 304."""

    def __init__(self, body: bytes, media_type: bytes, *, seconds_kept: int, is_page: bool = False) -> None:
        self._body, self._media_type, self._is_page = body, media_type, is_page
        self._compressed = compressed(body, is_shared=True)
        # Weak: the same for the plain and for the compressed form.
        self._tag = b'W/"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
        self._cache_control = b"public, max-age=%d" % seconds_kept

    async def __call__(self, call: Call) -> None:
        if self._is_page:
            call.extra = with_page_policy(call.extra)
        headers: Headers = [(b"etag", self._tag), VARIES]
        if not call.is_private:
            headers.append((b"cache-control", self._cache_control))
        if tag_is_known(self._tag, call.headers.get(b"if-none-match")):
            await call.start(304, headers)
            await call.send({"type": "http.response.body", "body": b""})
            return
        headers.append((b"content-type", self._media_type))
        body = self._body
        if accepted_codings(call.headers.get(b"accept-encoding")).compresses(len(body)):
            headers.append(ENCODED)
            body = self._compressed
        await call.answer(200, headers, body)


def page_file(name: str) -> bytes:
    """A file of the folder `pages`."""
    return resources.files("api_gateway").joinpath("pages", name).read_bytes()
