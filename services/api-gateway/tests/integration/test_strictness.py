"""What arrives as bytes and not as a browser would send it: refused or harmless, form by form, on one gateway process.

Each form states what its client is answered, whether the connection ends, and what its service sees: nothing that the gateway did
not judge. What the service saw is read by a reader of its own that takes no framing but the strictest.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest
import pytest_asyncio

from campus_tools.service_kit import Issuer, issuing
from campus_tools.testing import DatabaseUrls, eventually
from common.ids import new_id

from .gateway_process import Process, running_process

# Each form is its own request: the tiers are out of the way, and nothing is answered from memory.
SETTINGS = {
    "RATE_TIER_1": "100000",
    "RATE_TIER_2": "100000",
    "RATE_TIER_4": "100000",
    "RATE_TIER_4_ADDRESS": "100000",
    "RATE_MACHINES": "100000",
    "EDGE_CACHE_SECONDS": "0",
    "CLIENT_HEAD_SECONDS_MAX": "1",
    "CLIENT_BODY_SECONDS_MAX": "1",
    "CLIENT_ANSWER_SECONDS_MAX": "1",
}
LOGIN, WEBHOOK = "/api/auth/login", "/functions/v1/gateway-webhook"
HIDDEN = b"GET /api/orders HTTP/1.1\r\nHost: x\r\n\r\n"
LONG_ANSWER = "/api/campus-orders/export"


@dataclass
class Recorder:
    """A service that reads its requests strictly and keeps them: request line, headers, body."""

    seen: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    misread: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._answer_one(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *fields = head[:-4].split(b"\r\n")
        headers: dict[str, str] = {}
        for each in fields:
            name, colon, value = each.partition(b": ")
            if not colon or name.decode() in headers or b"\n" in each or b"\r" in each:
                self.misread.append(each)
            headers[name.decode()] = value.decode("latin-1")
        if "content-length" in headers and "transfer-encoding" in headers:
            self.misread.append(head)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if "transfer-encoding" in headers:
            body = await self._chunks(reader)
        self.seen.append((line.decode(), headers, body))
        length = 30_000_000 if LONG_ANSWER in line.decode() else 2
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n{}" % length)
        for _ in range((length - 2) // 10_000):
            writer.write(b" " * 10_000)
            await writer.drain()
        if length > 2:
            writer.write(b" " * ((length - 2) % 10_000))

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            assert await reader.readexactly(2) == b"\r\n"
        assert await reader.readexactly(2) == b"\r\n"
        return body


@dataclass(frozen=True)
class Bench:
    process: Process
    recorder: Recorder
    issuer: Issuer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bench(module_urls: DatabaseUrls, broker_url: str) -> AsyncIterator[Bench]:
    recorder = Recorder()
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with issuing() as issuer, running_process(module_urls, broker_url, issuer, url, **SETTINGS) as (process, _):
        yield Bench(process, recorder, issuer)
    server.close()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """A connection that sends bytes and reads answers one by one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, sent: bytes) -> None:
        self._writer.write(sent)
        await self._writer.drain()

    async def answer(self, *, has_body: bool = True) -> Answer:
        async with asyncio.timeout(10):
            head = await self._reader.readuntil(b"\r\n\r\n")
            line, *fields = head[:-4].decode("latin-1").split("\r\n")
            headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in fields)}
            status = int(line.split(" ")[1])
            length = int(headers.get("content-length", "0")) if has_body and status not in (100, 204) else 0
            return Answer(status, headers, await self._reader.readexactly(length))

    async def is_closed(self) -> bool:
        """Whether the gateway has ended the connection, after what it had to say."""
        try:
            async with asyncio.timeout(10):
                return await self._reader.read(1) == b""
        except ConnectionError:
            return True

    async def lives(self) -> bool:
        """Whether the connection carries another request, and its answer is that request's own."""
        await self.send(b"GET /health/liveness HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await self.answer()
        return answer.status == 200 and b'"alive"' in answer.body


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


def get(target: str = "/api/products", *fields: str, host: str = "Host: x", version: str = "1.1") -> bytes:
    lines = [f"GET {target} HTTP/{version}", *([host] if host else []), *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def post(body: bytes, *fields: str, target: str = WEBHOOK, media: str = "Content-Type: application/json") -> bytes:
    lines = [f"POST {target} HTTP/1.1", "Host: x", *([media] if media else []), *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


@dataclass(frozen=True)
class Form:
    """`seen` are the paths that reach the service, in order, and `body` what the last of them carries."""

    name: str
    sent: bytes
    status: int
    closes: bool = False
    seen: tuple[str, ...] = ()
    body: bytes | None = None
    code: str = "VALIDATION_FAILED"
    has_body: bool = True


def refused(name: str, sent: bytes, status: int = 400, *, closes: bool = True, code: str = "VALIDATION_FAILED") -> Form:
    return Form(name, sent, status, closes, code=code)


def absent(name: str, sent: bytes) -> Form:
    return Form(name, sent, 404, code="RESOURCE_NOT_FOUND")


def passes(name: str, sent: bytes, *seen: str, body: bytes | None = None, closes: bool = False) -> Form:
    return Form(name, sent, 200, closes, seen or ("/api/products",), body)


CHUNKED = "Transfer-Encoding: chunked"
GOOD_CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"
TOKEN = "Authorization: Bearer a"
ZIPPED = "Content-Encoding: gzip"
KEY = "Idempotency-Key: 018cc251-f400-4004-8000-00000000000a"
KEY_2 = "Idempotency-Key: 018cc251-f400-4004-8000-00000000000b"

FORMS = [
    # Two framings, or one that two readers may take differently
    refused("CL and TE", post(b"0\r\n\r\n" + HIDDEN, "Content-Length: 5", CHUNKED)),
    refused("TE and CL", post(b"0\r\n\r\n" + HIDDEN, CHUNKED, "Content-Length: 5")),
    refused("TE xchunked", post(GOOD_CHUNKS, "Transfer-Encoding: xchunked")),
    refused("TE unknown", post(GOOD_CHUNKS, "Transfer-Encoding: gzip")),
    refused("TE chunked, then identity", post(GOOD_CHUNKS, "Transfer-Encoding: chunked, identity")),
    refused("TE gzip, then chunked", post(GOOD_CHUNKS, "Transfer-Encoding: gzip, chunked")),
    refused("TE chunked twice", post(GOOD_CHUNKS, CHUNKED, "Transfer-Encoding: chunked, chunked")),
    refused("TE sent twice", post(GOOD_CHUNKS, CHUNKED, CHUNKED)),
    refused("TE with a space before the colon", post(GOOD_CHUNKS, "Transfer-Encoding : chunked")),
    refused("TE with a vertical tab", post(GOOD_CHUNKS, "Transfer-Encoding: \x0bchunked")),
    refused("TE in quotes", post(GOOD_CHUNKS, 'Transfer-Encoding: "chunked"')),
    refused("TE folded", post(GOOD_CHUNKS, "Transfer-Encoding:\r\n chunked")),
    refused("TE after a header with a bare LF", post(GOOD_CHUNKS, "X: y\nTransfer-Encoding: chunked")),
    refused("TE with a null", post(GOOD_CHUNKS, "Transfer-Encoding: chunked\x00")),
    refused("TE in HTTP/1.0", post(GOOD_CHUNKS, CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0")),
    passes("TE in capitals", post(GOOD_CHUNKS, "TRANSFER-ENCODING: Chunked"), WEBHOOK, body=b"{}"),
    refused("two lengths", post(b"{}", "Content-Length: 2", "Content-Length: 3")),
    refused("two equal lengths", post(b"{}", "Content-Length: 2", "Content-Length: 2")),
    refused("a list of lengths", post(b"{}", "Content-Length: 2, 2")),
    refused("a length with a plus", post(b"{}", "Content-Length: +2")),
    refused("a negative length", post(b"{}", "Content-Length: -2")),
    refused("a length in hexadecimal", post(b"{}", "Content-Length: 0x2")),
    refused("a length with a space inside", post(b"{}", "Content-Length: 1 2")),
    refused("an empty length", post(b"{}", "Content-Length:")),
    refused("a length beyond 64 bits", post(b"{}", "Content-Length: 99999999999999999999999")),
    refused("a length with an underscore", post(b"{}", "Content-Length: 1_0")),
    passes("a length with zeros before it", post(b"{}", "Content-Length: 002"), WEBHOOK, body=b"{}"),
    # Chunks
    passes("a chunk with an extension", post(b"2;a=b\r\n{}\r\n0\r\n\r\n", CHUNKED), WEBHOOK, body=b"{}"),
    passes("a last chunk of several zeros", post(b"2\r\n{}\r\n000\r\n\r\n", CHUNKED), WEBHOOK, body=b"{}"),
    passes("trailers", post(b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\nX-User-Id: 1\r\n\r\n", CHUNKED), WEBHOOK, body=b"{}"),
    refused("a chunk's extension with a bare LF", post(b"2;a\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a chunk size with 0x", post(b"0x2\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a negative chunk size", post(b"-2\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a chunk size beyond 64 bits", post(b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a chunk without its end", post(b"2\r\n{}0\r\n\r\n", CHUNKED)),
    refused("a chunk longer than it says", post(b"1\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("an empty chunk size", post(b"\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("chunk lines with bare LF", post(b"2\n{}\n0\n\n", CHUNKED)),
    # Lines
    refused("lines with bare LF", b"GET /api/products HTTP/1.1\nHost: x\n\n"),
    refused("a bare CR in a value", get("/api/products", "X: a\rb")),
    refused("a folded header", get("/api/products", "X: a\r\n b")),
    refused("a header without a colon", get("/api/products", "nonsense")),
    refused("a header without a name", get("/api/products", ": value")),
    refused("a name with a space", get("/api/products", "X Y: z")),
    refused("a null in a value", get("/api/products", "X: a\x00b")),
    refused("a space before the first header", get("/api/products", host=" Host: x")),
    refused("no version", b"GET /api/products\r\nHost: x\r\n\r\n"),
    refused("HTTP/2.0", get(version="2.0")),
    refused("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    refused("HTTP/1.2", get(version="1.2")),
    refused("a version in small letters", get().replace(b"HTTP", b"http")),
    refused("a method in small letters", get().replace(b"GET", b"get")),
    refused("a method that nobody knows", get().replace(b"GET", b"HACK")),
    refused("what is no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 200),
    passes("empty lines before a request", b"\r\n\r\n" + get()),
    # Headers that stand once
    refused("two tokens", get("/api/orders", TOKEN, TOKEN), 401, closes=False, code="AUTH_UNAUTHORIZED"),
    refused("two hosts", get("/api/products", "Host: x")),
    refused("no host", get(host="")),
    refused("an empty host", get(host="Host:")),
    refused("a host with a path", get(host="Host: x/y")),
    refused("a host with a user", get(host="Host: a@x")),
    refused("a host with a space", get(host="Host: x y")),
    refused("a host with two ports", get(host="Host: x:1:2")),
    refused("a list of hosts", get(host="Host: x, y")),
    passes("an IPv6 host", get(host="Host: [::1]:8080")),
    refused("two media types", post(b"{}", "Content-Length: 2", "Content-Type: text/plain", target=LOGIN), 415, closes=False),
    refused("two encodings", post(b"{}", "Content-Length: 2", ZIPPED, "Content-Encoding: identity", target=LOGIN), 415, closes=False),
    passes("two request ids", get("/api/products", "X-Request-Id: req_" + "A" * 20, "X-Request-Id: req_" + "B" * 20)),
    # Targets
    passes("absolute form", get("http://evil.example/api/products")),
    refused("absolute form without a path", get("http://evil.example")),
    refused("absolute form of another scheme", get("ftp:///api/products")),
    refused("authority form", get("evil.example:443")),
    refused("CONNECT", get("evil.example:443").replace(b"GET", b"CONNECT")),
    absent("*", get("*")),
    absent("OPTIONS *", get("*").replace(b"GET", b"OPTIONS")),
    refused("a target without a slash", get("api/products")),
    refused("a target with a space", get("/api/products x")),
    refused("a target that is not ASCII", get("/api/prod\xfccts")),
    absent("//", get("//api/products")),
    absent("// inside", get("/api//products")),
    absent("/./", get("/api/./products")),
    absent("/../", get("/api/auth/../products")),
    absent("/.. before it", get("/../api/products")),
    absent("%2f", get("/api%2fproducts")),
    absent("%2F inside", get("/api/products%2F")),
    absent("%2e%2e", get("/api/auth/%2e%2e/products")),
    absent("%00", get("/api/products%00")),
    absent("double encoding", get("/api/auth/%252e%252e/products")),
    absent("an encoded letter", get("/api/%70roducts")),
    absent("a backslash", get("/api\\products")),
    absent("case", get("/API/products")),
    absent(";parameters", get("/api/products;jsessionid=1")),
    absent("a slash at the end", get("/api/products/")),
    absent("dots at the end", get("/api/products/..")),
    absent("a dot at the end", get("/api/products.")),
    absent("unicode", get("/api/%e2%80%8bproducts")),
    absent("full-width letters", get("/api/%ef%bd%90roducts")),
    absent("the metrics", get("/metrics")),
    absent("what is inside of a service", get("/internal/standings")),
    passes("a question mark without a query", get("/api/products?")),
    passes("a null in the query", get("/api/products?q=%00"), "/api/products?q=%00"),
    passes("a second question mark", get("/api/products?a=?b"), "/api/products?a=?b"),
    # Size
    refused("a URL over 8 KiB", get("/api/products?q=" + "x" * 8_200), 414, closes=False),
    refused("headers over 16 KiB", get("/api/products", "X: " + "x" * 16_400), 431, closes=False),
    refused("too many headers", get("/api/products", *(f"X-{number}: 1" for number in range(200))), 431, closes=False),
    refused("a head without end", b"GET /api/products HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 700_000, 431),
    # Bodies
    refused("a compressed body", post(b"{}", "Content-Length: 2", ZIPPED), 415, closes=False),
    refused("a body encoded in ways", post(b"{}", "Content-Length: 2", "Content-Encoding: identity, br"), 415, closes=False),
    refused("a body longer than the limit is said to be", post(b"", "Content-Length: 2000000"), 413, closes=True),
    refused("a body without a media type", post(b"{}", "Content-Length: 2", target=LOGIN, media=""), 415, closes=False),
    passes("a form without an end", post(b"{}", "Content-Length: 2", media="Content-Type: multipart/form-data"), WEBHOOK),
    passes("a body on a GET", get("/api/products", f"Content-Length: {len(HIDDEN)}") + HIDDEN),
    passes("a chunked body on a GET", get("/api/products", CHUNKED) + b"%x\r\n%b\r\n0\r\n\r\n" % (len(HIDDEN), HIDDEN)),
    # Methods and protocols
    Form("HEAD", get().replace(b"GET", b"HEAD"), 200, seen=("/api/products",), has_body=False),
    refused("OPTIONS", get().replace(b"GET", b"OPTIONS"), 405, closes=False),
    refused("TRACE", get().replace(b"GET", b"TRACE"), 405, closes=False),
    refused("a method of WebDAV", get().replace(b"GET", b"PROPFIND"), 405, closes=False),
    passes("an upgrade to websocket", get("/api/products", "Connection: Upgrade", "Upgrade: websocket"), closes=True),
    passes("an upgrade to h2c", get("/api/products", "Connection: Upgrade", "Upgrade: h2c") + HIDDEN, closes=True),
    passes("an expectation that nobody knows", get("/api/products", "Expect: the-unexpected")),
    passes("HTTP/1.0", get(version="1.0"), closes=True),
    passes("HTTP/1.0 without a host", get(version="1.0", host=""), closes=True),
    passes("HTTP/1.0 that would stay", get("/api/products", "Connection: keep-alive", version="1.0"), closes=True),
    passes("a request after the last one", get("/api/products", "Connection: close") + HIDDEN, closes=True),
    passes("a header that the connection names", get("/api/products", "Connection: authorization, x-request-id")),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
async def test_what_no_honest_client_sends_is_refused_or_harmless(bench: Bench, form: Form) -> None:
    bench.recorder.seen.clear()
    async with connected(bench.process.port) as client:
        await client.send(form.sent)
        answer = await client.answer(has_body=form.has_body)
        assert answer.status == form.status
        for name in ("x-request-id", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "api-version"):
            assert name in answer.headers
        assert "server" not in answer.headers
        if form.status >= 400 and form.has_body:
            problem = json.loads(answer.body)
            assert answer.headers["content-type"] == "application/problem+json"
            assert (problem["status"], problem["code"]) == (form.status, form.code)
            assert problem["requestId"] == answer.headers["x-request-id"]
        if form.closes:
            assert await client.is_closed()
        else:
            assert await client.lives()
    assert tuple(line.split(" ")[1] for line, _, _ in bench.recorder.seen) == form.seen
    assert bench.recorder.misread == []
    if form.body is not None:
        assert bench.recorder.seen[-1][2] == form.body
    for _, headers, _ in bench.recorder.seen:
        assert "host" in headers
        assert not {"x-user-id", "upgrade", "connection", "te", "expect", "trailer", "http2-settings"} & set(headers)


async def test_two_keys_are_no_key(bench: Bench) -> None:
    bench.recorder.seen.clear()
    token = f"Authorization: Bearer {bench.issuer.token(new_id())}"
    async with connected(bench.process.port) as client:
        await client.send(post(b"{}", "Content-Length: 2", token, KEY, KEY_2, target="/api/orders/checkout"))
        answer = await client.answer()
        assert (answer.status, json.loads(answer.body)["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    assert bench.recorder.seen == []


async def test_requests_of_one_connection_are_answered_in_their_order(bench: Bench) -> None:
    bench.recorder.seen.clear()
    asked = [f"/api/products?number={number}" for number in range(20)]
    async with connected(bench.process.port) as client:
        await client.send(b"".join(get(target) for target in asked) + get("/nowhere"))
        statuses = [(await client.answer()).status for _ in range(21)]
    assert statuses == [200] * 20 + [404]
    assert [line.split(" ")[1] for line, _, _ in bench.recorder.seen] == asked


async def test_a_client_that_waits_for_100_is_told_to_go_on_only_when_its_body_is_wanted(bench: Bench) -> None:
    async with connected(bench.process.port) as client:
        await client.send(post(b"", "Content-Length: 2", "Expect: 100-continue"))
        assert (await client.answer()).status == 100
        await client.send(b"{}")
        assert (await client.answer()).status == 200
    async with connected(bench.process.port) as client:
        await client.send(post(b"", "Content-Length: 9000000", "Expect: 100-continue"))
        assert (await client.answer()).status == 413


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /api/products HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        get() + b"GET /api/products HTTP/1.1\r\nHost:",
        post(b"12", "Content-Length: 900", target="/api/orders/checkout"),
    ],
    ids=["nothing", "a head", "a second head", "a body that was refused"],
)
async def test_a_client_that_owes_the_rest_is_not_waited_for(bench: Bench, sent: bytes) -> None:
    """The first requests are answered, and then the connection ends though the client would wait for ever."""
    async with connected(bench.process.port) as client:
        await client.send(sent)
        if sent.startswith((b"POST", get())):
            assert (await client.answer()).status in (200, 401)
        assert await client.is_closed()


@pytest.mark.parametrize("begun", [b"", b"{"], ids=["none", "some"])
@pytest.mark.parametrize("target", [LOGIN, WEBHOOK])
async def test_a_body_that_does_not_arrive_in_time_is_408(bench: Bench, target: str, begun: bytes) -> None:
    async with connected(bench.process.port) as client:
        await client.send(post(begun, "Content-Length: 300", target=target))
        answer = await client.answer()
        assert (answer.status, json.loads(answer.body)["code"]) == (408, "VALIDATION_FAILED")
        assert await client.is_closed()


async def test_a_client_that_takes_no_answer_holds_no_connection_to_a_service(bench: Bench) -> None:
    bench.recorder.seen.clear()
    token = f"Authorization: Bearer {bench.issuer.token(new_id())}"
    _, writer = await asyncio.open_connection("127.0.0.1", bench.process.port, limit=1)
    writer.write(get(LONG_ANSWER, token))
    await eventually(lambda: bench.recorder.seen)

    async def was_given_up() -> bool:
        async with httpx.AsyncClient(trust_env=False) as inside:
            metrics = (await inside.get(f"http://127.0.0.1:{bench.process.metrics_port}/metrics")).text
        return f'gateway_requests_total{{route="GET {LONG_ANSWER}"' in metrics

    assert await eventually(was_given_up)
    writer.close()
