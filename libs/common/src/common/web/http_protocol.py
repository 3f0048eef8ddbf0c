"""uvicorn's HTTP protocol, changed to send head and body of a response in one write."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class JoinedWrites:
    """A transport that joins all writes of one step of the event loop.

    uvicorn writes head and body of a response separately, and each write is a system call. Together these were a third
    of the cost of the product page (docs, performance).
    """

    __slots__ = (
        "_loop",
        "_pieces",
        "_transport",
        "abort",
        "get_extra_info",
        "get_write_buffer_size",
        "is_closing",
        "pause_reading",
        "resume_reading",
    )

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []
        self.get_extra_info = transport.get_extra_info
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.is_closing = transport.is_closing
        self.abort = transport.abort
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes) -> None:
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            if not self._transport.is_closing():
                self._transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))


class JoinedProtocol(HttpToolsProtocol):
    """The protocol of one client connection, over `JoinedWrites`."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
