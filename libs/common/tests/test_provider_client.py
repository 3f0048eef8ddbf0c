"""The provider client over real sockets. Its errors decide whether a provider may have received a request."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from common.web.provider_client import provider_client

HOST = "127.0.0.1"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
# Longer than any test takes; no test waits for it.
PATIENT = 60.0
SHORT = 0.05

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Yield a server on this machine, by its base address. `serve` handles a connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, HOST, 0, ssl=tls)
    try:
        yield f"{'https' if tls else 'http'}://{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


class Recording:
    """Sends each request of a connection the next response, and stores heads, bodies and connections."""

    def __init__(self, *responses: bytes) -> None:
        self._responses = list(responses)
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.connections = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next((int(line.split(":")[1]) for line in head.split("\r\n") if "content-length" in line), 0)
            self.heads.append(head)
            self.bodies.append(await reader.readexactly(length))
            writer.write(self._responses.pop(0))


async def test_a_request_and_its_response_are_the_ones_of_httpx():
    server = Recording(b"HTTP/1.1 201 Created\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 8\r\n\r\n" + b'{"a": 1}')
    async with serving(server) as url, provider_client(base_url=url, timeout=PATIENT, headers={"X-Key": "k"}) as client:
        response = await client.post("/v1/things?q=a%2Fb", json={"name": "Ada"})
    assert (response.status_code, response.json(), response.headers.get_list("x-a")) == (201, {"a": 1}, ["1", "2"])
    [head], [body] = server.heads, server.bodies
    assert head.startswith("post /v1/things?q=a%2fb http/1.1\r\n")
    assert "x-key: k\r\n" in head
    assert head.count("content-type: application/json\r\n") == 1
    assert head.count("user-agent:") == head.count("accept-encoding:") == 1
    assert body == b'{"name":"Ada"}'


async def test_the_account_of_an_address_is_sent_as_httpx_does():
    server = Recording(OK)
    async with serving(server) as url, provider_client(timeout=PATIENT) as client:
        await client.get(url.replace("://", "://ada:pass%40word@"))
    [head] = server.heads
    # Basic, of `ada:pass@word`.
    assert "authorization: basic ywrhonbhc3nad29yza==\r\n" in head


async def test_forms_and_files_have_a_length_and_are_not_chunked():
    server = Recording(OK, OK)
    async with serving(server) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        await client.post("/", data={"to": "+2348030000001"})
        await client.post("/", files={"file": ("a.png", b"\x89PNG", "image/png")})
    assert all("transfer-encoding" not in head and "content-length" in head for head in server.heads)
    assert server.bodies[0] == b"to=%2B2348030000001"
    assert b"\x89PNG" in server.bodies[1]


async def test_a_large_body_is_sent_whole_with_its_length():
    server, body = Recording(OK), b"a" * (2**20 + 1)
    async with serving(server) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        await client.put("/", content=body)
    assert "transfer-encoding" not in server.heads[0]
    assert server.bodies == [body]


async def test_a_connection_is_used_again():
    server = Recording(OK, OK)
    async with serving(server) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        await client.get("/")
        await client.get("/")
    assert (server.connections, len(server.heads)) == (1, 2)


async def test_a_compressed_response_is_decoded_once():
    body = gzip.compress(b'{"status": true}')
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with serving(Recording(head + body)) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        assert (await client.get("/")).json() == {"status": True}


async def test_a_redirect_is_not_followed():
    server = Recording(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    async with serving(server) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        assert (await client.get("/")).status_code == 302


async def test_a_stream_gives_each_piece_when_it_arrives_and_may_end_early():
    received = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await received.wait()
        writer.write(b"3\r\ntwo\r\n")
        await reader.read()

    async with serving(serve) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        pieces = []
        async with client.stream("GET", "/") as response:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                received.set()
                if len(pieces) == 2:
                    break
    assert pieces == [b"one", b"two"]


async def test_a_refused_connection_reports_that_nothing_was_sent():
    with socket.socket() as closed:
        closed.bind((HOST, 0))
        async with provider_client(timeout=PATIENT) as client:
            with pytest.raises(httpx.ConnectError):
                await client.post(f"http://{HOST}:{closed.getsockname()[1]}/")


async def test_an_unknown_name_reports_that_nothing_was_sent():
    async with provider_client(timeout=PATIENT) as client:
        with pytest.raises(httpx.ConnectError):
            await client.post("http://gateway.invalid/")


async def test_a_connection_that_is_not_accepted_in_time_reports_that_nothing_was_sent():
    with socket.socket() as full:
        # No call of accept: the backlog of one is full, and the next handshake gets no response.
        full.bind((HOST, 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex((HOST, port))
        async with provider_client(timeout=httpx.Timeout(PATIENT, connect=SHORT)) as client:
            with pytest.raises(httpx.ConnectTimeout):
                await client.post(f"http://{HOST}:{port}/")
        for each in waiting:
            each.close()


async def test_a_certificate_that_is_not_trusted_reports_that_nothing_was_sent(tmp_path: Path, authority):
    server_of = authority.server_of
    server = Recording(OK)
    async with (
        serving(server, tls=server_of(tmp_path, "localhost")) as url,
        provider_client(base_url=url, timeout=PATIENT) as client,
    ):
        with pytest.raises(httpx.ConnectError):
            await client.post("/", content=b"secret")
    assert server.heads == []


async def test_no_free_connection_reports_that_nothing_was_sent():
    received, release = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        received.set()
        await release.wait()
        writer.write(OK)

    async with serving(serve) as url, provider_client(base_url=url, timeout=PATIENT, connections_max=1) as client:
        first = asyncio.create_task(client.get("/"))
        await received.wait()
        with pytest.raises(httpx.ConnectTimeout):
            await client.post("/", timeout=httpx.Timeout(PATIENT, pool=SHORT))
        release.set()
        assert (await first).text == "ok"


@pytest.mark.parametrize(
    "response",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok", b"not HTTP at all\r\n\r\n"],
    ids=["nothing", "half a head", "half a body", "no HTTP"],
)
async def test_a_connection_that_ends_after_the_request_may_have_sent_it(response: bytes):
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        await reader.readuntil(b"\r\n\r\n")
        requests += 1
        writer.write(response)

    async with serving(serve) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        with pytest.raises(httpx.HTTPError) as raised:
            await client.post("/")
    assert not isinstance(raised.value, httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol)
    assert requests == 1, "a POST is never sent twice"


async def test_a_reset_after_the_request_may_have_sent_it():
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with serving(serve) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post("/")


@pytest.mark.parametrize("response", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"], ids=["head", "body"])
async def test_a_late_response_is_a_read_timeout(response: bytes):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response)
        await reader.read()

    timeout = httpx.Timeout(PATIENT, read=SHORT)
    async with serving(serve) as url, provider_client(base_url=url, timeout=timeout) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/")


async def test_another_scheme_is_not_called():
    async with provider_client(timeout=PATIENT) as client:
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.get("ftp://example.com/")


async def test_the_proxy_of_the_environment_is_used_unless_switched_off(monkeypatch: pytest.MonkeyPatch):
    proxy = Recording(OK)
    async with serving(proxy) as url:
        monkeypatch.setenv("HTTP_PROXY", url)
        async with provider_client(timeout=PATIENT) as client:
            assert (await client.get("http://gateway.invalid/path")).text == "ok"
        async with provider_client(timeout=PATIENT, trust_env=False) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get("http://gateway.invalid/path")
    assert proxy.heads[0].startswith("get http://gateway.invalid/path ")


async def test_a_cancelled_call_closes_its_connection():
    arrived, closed = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await reader.read()
        closed.set()

    async with serving(serve) as url, provider_client(base_url=url, timeout=PATIENT) as client:
        call = asyncio.create_task(client.post("/"))
        async with asyncio.timeout(PATIENT):
            await arrived.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await closed.wait()
