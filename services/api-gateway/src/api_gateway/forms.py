"""Forms with a file, sent under an idempotency key: held in a file of ours while they are compared and passed on (contract section 3)."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from email.message import Message
from tempfile import TemporaryFile
from typing import IO, Final

from starlette.types import Receive

from api_gateway.bodies import read_body
from api_gateway.routing import KIB, Route

_CHUNK_BYTES: Final = 64 * KIB


class HeldForm:
    """A form that has arrived in whole. Many at once fill no memory: it stands on the disk, without a name."""

    def __init__(self, file: IO[bytes], delimiter: bytes) -> None:
        self._file, self._delimiter = file, delimiter

    async def compared(self) -> bytes:
        """What makes it the same form again: every byte but the boundary, which clients draw anew for each try."""
        return await asyncio.to_thread(self._without_boundaries)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The form as it was sent."""
        self._file.seek(0)
        while chunk := self._file.read(_CHUNK_BYTES):
            yield chunk

    def _without_boundaries(self) -> bytes:
        self._file.seek(0)
        content = self._file.read()
        return content.replace(self._delimiter, b"--") if self._delimiter else content


@asynccontextmanager
async def held_form(
    receive: Receive, route: Route, headers: Mapping[bytes, bytes], seconds_max: float | None
) -> AsyncIterator[HeldForm]:
    """The body of a form, read to its end. Raises BodyTooLarge, BodyTooSlow, ClientGone."""
    with TemporaryFile() as file:
        body = await read_body(receive, route, seconds_max)
        if isinstance(body, bytes):
            file.write(body)
        else:
            async for chunk in body:
                file.write(chunk)
        yield HeldForm(file, delimiter_of(headers.get(b"content-type", b"")))


def delimiter_of(content_type: bytes) -> bytes:
    """What stands before each part of a form with this media type; empty when it names no boundary."""
    message = Message()
    message["Content-Type"] = content_type.decode("latin-1")
    boundary = message.get_boundary()
    return b"--" + boundary.encode("latin-1", "replace") if boundary else b""
