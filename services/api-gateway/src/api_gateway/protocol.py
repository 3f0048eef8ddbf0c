"""uvicorn's HTTP protocol with the limits of the contract: 16 KiB of headers, 8 KiB of URL (section 4), and problems for all it refuses."""

import asyncio
from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api_gateway.edge import REFUSED_HEAD, Edge

HEADERS_BYTES_MAX: Final = 16 * 1024
URL_BYTES_MAX: Final = 8 * 1024
# A head that has not ended by then is refused without looking for its end: nothing beyond it is kept in memory.
# Twice what one read brings, since the bytes of a read are counted in full for every head that begins in it.
HEAD_BYTES_MAX: Final = 512 * 1024
# A client that opens a connection and takes longer for the head of its first request holds the connection for nothing.
HEAD_SECONDS_MAX: Final = 20.0


class _JoinedWrites:
    """A transport that sends what is written in one step of the loop in one piece.

    uvicorn writes head and body of an answer apart, and each write is a system call: joining them saves 20 us of 100.
    """

    __slots__ = ("_loop", "_pieces", "_transport", "get_extra_info", "is_closing", "pause_reading", "resume_reading")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
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


class EdgeProtocol(HttpToolsProtocol):
    """One connection of a client."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._in_head = True
        self._read_bytes = 0
        self._first_head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        self._first_head = self.loop.call_later(HEAD_SECONDS_MAX, self._close_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_first_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._read_bytes = len(data)
        if self._in_head:
            self._head_bytes += self._read_bytes
        super().data_received(data)
        if self._in_head and self._head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
            self._refuse(431)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        # What follows in the same read is the next head.
        self._in_head = True
        self._head_bytes = self._read_bytes

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._forget_first_head()
        # Only a head that may be too long is measured: `_head_bytes` is never less than its length.
        if self._head_bytes > URL_BYTES_MAX:
            refused = self._measure_head()
            if refused:
                self.scope["state"][REFUSED_HEAD] = refused
                if refused == 414:
                    self.url = b"/"
        try:
            super().on_headers_complete()
        except httptools.HttpParserInvalidURLError:
            self.url = b"/"
            self.scope["state"][REFUSED_HEAD] = 400
            super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400)

    def _measure_head(self) -> int:
        if len(self.url) > URL_BYTES_MAX:
            return 414
        # Each line has a colon, a space and its end.
        size = sum(len(name) + len(value) + 4 for name, value in self.headers)
        return 431 if size > HEADERS_BYTES_MAX else 0

    def _refuse(self, status: int) -> None:
        """Answers what never became a request, and closes: nobody knows where the next request would begin."""
        self.flow.pause_reading()
        task = self.loop.create_task(self._answer_and_close(status))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer_and_close(self, status: int) -> None:
        edge: Edge = self.config.loaded_app
        answer = await edge.refusal_without_request(self.client[0] if self.client else "", status)
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()

    def _close_silent(self) -> None:
        self._first_head = None
        if not self.transport.is_closing():
            self.transport.close()

    def _forget_first_head(self) -> None:
        if self._first_head is not None:
            self._first_head.cancel()
            self._first_head = None
