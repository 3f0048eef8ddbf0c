"""Multipart forms under an idempotency key: buffered on disk while they are fingerprinted and forwarded (contract
section 3).

**A multipart form with a key is buffered on disk** while it is fingerprinted without its boundary, which clients
generate for each attempt. Without a key it is streamed.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from email.message import Message
from tempfile import TemporaryFile
from typing import IO, Final

from starlette.types import Receive

from api_gateway.bodies import read_body
from common.web.endpoint_table import KIB, Route

_CHUNK_BYTES: Final = 64 * KIB


class BufferedForm:
    """A complete form, buffered in an unnamed file, so that many concurrent forms do not fill the memory."""

    def __init__(self, file: IO[bytes], delimiter: bytes) -> None:
        self._file, self._delimiter = file, delimiter

    async def comparable(self) -> bytes:
        """Return the bytes that identify the form: all but the boundary, which clients generate for each attempt."""
        return await asyncio.to_thread(self._without_boundaries)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the form as sent."""
        self._file.seek(0)
        while chunk := self._file.read(_CHUNK_BYTES):
            yield chunk

    def _without_boundaries(self) -> bytes:
        self._file.seek(0)
        content = self._file.read()
        return content.replace(self._delimiter, b"--") if self._delimiter else content


@asynccontextmanager
async def buffered_form(
    receive: Receive, route: Route, headers: Mapping[bytes, bytes], seconds_max: float | None
) -> AsyncIterator[BufferedForm]:
    """Read the body of a form to its end. Raises BodyTooLarge, BodyTooSlow, ClientDisconnected."""
    with TemporaryFile() as file:
        body = await read_body(receive, route, seconds_max)
        if isinstance(body, bytes):
            file.write(body)
        else:
            async for chunk in body:
                file.write(chunk)
        yield BufferedForm(file, delimiter_of(headers.get(b"content-type", b"")))


def delimiter_of(content_type: bytes) -> bytes:
    """Return the delimiter of the parts of a form with this media type; empty without a boundary."""
    message = Message()
    message["Content-Type"] = content_type.decode("latin-1")
    boundary = message.get_boundary()
    return b"--" + boundary.encode("latin-1", "replace") if boundary else b""
