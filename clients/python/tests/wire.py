"""A server that speaks HTTP over a real socket, and both clients behind one interface."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from campus_client import AsyncCampus, Campus

META = {"timestamp": "2026-01-31T12:00:00.000Z", "version": "v1", "requestId": "req_one"}


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True)
class Reply:
    """A response. `chunks` are sent one by one; `is_cut`: the connection is closed before the end."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    chunks: tuple[bytes, ...] = (b"",)
    is_cut: bool = False


LOST = Reply(is_cut=True, status=0)
"""The request arrives, and the connection is closed without a response."""


def enveloped(content: Any, **meta: Any) -> Reply:
    body = json.dumps({"success": True, "data": content, "meta": META | meta}).encode()
    return Reply(headers=(("Content-Type", "application/json"),), chunks=(body,))


def problem(status: int, code: str, retry_after: int | None = None, **more: Any) -> Reply:
    body = json.dumps({"status": status, "code": code, "detail": "No.", "requestId": "req_one", **more}).encode()
    headers = [("Content-Type", "application/problem+json")]
    if retry_after is not None:
        headers.append(("Retry-After", str(retry_after)))
    return Reply(status, tuple(headers), (body,))


def event_stream(*chunks: str, is_cut: bool = False) -> Reply:
    headers = (("Content-Type", "text/event-stream"),)
    return Reply(200, headers, tuple(chunk.encode() for chunk in chunks), is_cut)


class Server:
    """Plays the gateway: replies in turn, or by a function of the request. `requests` has all that arrived."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.replies: list[Reply] | Callable[[Received], Reply] = []
        self.base_url = ""
        self._lock = threading.Lock()

    def reply_with(self, *replies: Reply) -> None:
        self.replies = list(replies)

    def reply_to(self, request: Received) -> Reply:
        with self._lock:
            self.requests.append(request)
            if not callable(self.replies):
                return self.replies.pop(0)
        return self.replies(request)


@contextmanager
def running_server() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            target = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Received(self.command, target.path, dict(parse_qsl(target.query)), headers, body)
            reply = server.reply_to(request)
            self.close_connection = reply.is_cut
            if reply is LOST:
                return
            self.send_response(reply.status)
            for header in reply.headers:
                self.send_header(*header)
            if len(reply.chunks) == 1 and not reply.is_cut:
                self.send_header("Content-Length", str(len(reply.chunks[0])))
                self.end_headers()
                self.wfile.write(reply.chunks[0])
                return
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for chunk in reply.chunks:
                self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                self.wfile.flush()
            if not reply.is_cut:
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Discard the log line."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.base_url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


class BlockingCalls:
    """The blocking client, called on other threads."""

    def __init__(self, campus: Campus) -> None:
        self.campus: Any = campus

    async def call(self, operation: Callable[[Any], Any]) -> Any:
        return await asyncio.to_thread(operation, self.campus)

    async def items(self, listing: Callable[[Any], Any]) -> list[Any]:
        return await asyncio.to_thread(lambda: list(listing(self.campus)))

    async def first_items(self, listing: Callable[[Any], Any], count: int) -> list[Any]:
        def read() -> list[Any]:
            stream = listing(self.campus)
            found = [next(stream) for _ in range(count)]
            stream.close()
            return found

        return await asyncio.to_thread(read)


class AsynchronousCalls:
    """The asynchronous client."""

    def __init__(self, campus: AsyncCampus) -> None:
        self.campus: Any = campus

    async def call(self, operation: Callable[[Any], Any]) -> Any:
        return await operation(self.campus)

    async def items(self, listing: Callable[[Any], Any]) -> list[Any]:
        return [item async for item in listing(self.campus)]

    async def first_items(self, listing: Callable[[Any], Any], count: int) -> list[Any]:
        stream = listing(self.campus)
        found = [await anext(stream) for _ in range(count)]
        await stream.aclose()
        return found


Calls = BlockingCalls | AsynchronousCalls
