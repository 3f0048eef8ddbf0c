"""Ambiguous requests as bytes, by theme, with the client's response and the part that the service receives."""

from dataclasses import dataclass

LOGIN, WEBHOOK = "/api/auth/login", "/functions/v1/gateway-webhook"
HIDDEN = b"GET /api/orders HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
GOOD_CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"
TOKEN = "Authorization: Bearer a"
ZIPPED = "Content-Encoding: gzip"
KEY = "Idempotency-Key: 018cc251-f400-4004-8000-00000000000a"
KEY_2 = "Idempotency-Key: 018cc251-f400-4004-8000-00000000000b"


def get(target: str = "/api/products", *fields: str, host: str = "Host: x", version: str = "1.1") -> bytes:
    lines = [f"GET {target} HTTP/{version}", *([host] if host else []), *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def post(body: bytes, *fields: str, target: str = WEBHOOK, media: str = "Content-Type: application/json") -> bytes:
    lines = [f"POST {target} HTTP/1.1", "Host: x", *([media] if media else []), *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


@dataclass(frozen=True)
class Form:
    """`seen` are the paths that reach the service, in order, and `body` is the body of the last one. `owes`: its client
    withholds announced bytes, and the gateway closes the connection after its timeout."""

    name: str
    sent: bytes
    status: int
    closes: bool = False
    seen: tuple[str, ...] = ()
    body: bytes | None = None
    code: str = "VALIDATION_FAILED"
    has_body: bool = True
    awaits_client: bool = False


def refused(name: str, sent: bytes, status: int = 400, *, closes: bool = True, code: str = "VALIDATION_FAILED") -> Form:
    return Form(name, sent, status, closes, code=code)


def absent(name: str, sent: bytes) -> Form:
    return Form(name, sent, 404, code="RESOURCE_NOT_FOUND")


def passes(name: str, sent: bytes, *seen: str, body: bytes | None = None, closes: bool = False) -> Form:
    return Form(name, sent, 200, closes, seen or ("/api/products",), body)


# Two framings, or one that two parsers may read differently.
FRAMINGS = [
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
]  # fmt: skip
CHUNKS = [
    passes("a chunk with an extension", post(b"2;a=b\r\n{}\r\n0\r\n\r\n", CHUNKED), WEBHOOK, body=b"{}"),
    passes("a last chunk of several zeros", post(b"2\r\n{}\r\n000\r\n\r\n", CHUNKED), WEBHOOK, body=b"{}"),
    passes("trailers", post((b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\nX-User-Id: "
    b"1\r\n\r\n"), CHUNKED), WEBHOOK, body=b"{}"),
    refused("a chunk's extension with a bare LF", post(b"2;a\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a chunk size with 0x", post(b"0x2\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a negative chunk size", post(b"-2\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a chunk size beyond 64 bits", post(b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("a chunk without its end", post(b"2\r\n{}0\r\n\r\n", CHUNKED)),
    refused("a chunk longer than it says", post(b"1\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("an empty chunk size", post(b"\r\n{}\r\n0\r\n\r\n", CHUNKED)),
    refused("chunk lines with bare LF", post(b"2\n{}\n0\n\n", CHUNKED)),
]  # fmt: skip
LINES = [
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
]  # fmt: skip
HEADERS_THAT_STAND_ONCE = [
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
    refused("two media types", post(b"{}", "Content-Length: 2", "Content-Type: text/plain", target=LOGIN), 415,
        closes=False),
    refused("two encodings", post(b"{}", "Content-Length: 2", ZIPPED, "Content-Encoding: identity", target=LOGIN), 415,
        closes=False),
    passes("two request ids", get("/api/products", "X-Request-Id: req_" + "A" * 20, "X-Request-Id: req_" + "B" * 20)),
]  # fmt: skip
TARGETS = [
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
    absent("what is inside of a service", get("/internal/authorization-profiles/current")),
    passes("a question mark without a query", get("/api/products?")),
    passes("a null in the query", get("/api/products?q=%00"), "/api/products?q=%00"),
    passes("a second question mark", get("/api/products?a=?b"), "/api/products?a=?b"),
]  # fmt: skip
SIZES = [
    refused("a URL over 8 KiB", get("/api/products?q=" + "x" * 8_200), 414, closes=False),
    refused("headers over 16 KiB", get("/api/products", "X: " + "x" * 16_400), 431, closes=False),
    refused("too many headers", get("/api/products", *(f"X-{number}: 1" for number in range(200))), 431, closes=False),
    refused("a head without end", b"GET /api/products HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 700_000, 431),
]  # fmt: skip
BODIES = [
    refused("a compressed body", post(b"{}", "Content-Length: 2", ZIPPED), 415, closes=False),
    refused("a body encoded in ways", post(b"{}", "Content-Length: 2", "Content-Encoding: identity, br"), 415,
        closes=False),
    Form(("a body longer than the limit is said to "
    "be"), post(b"", "Content-Length: 2000000"), 413, closes=True, awaits_client=True),
    refused("a body without a media type", post(b"{}", "Content-Length: 2", target=LOGIN, media=""), 415, closes=False),
    passes("a form without an end", post(b"{}", "Content-Length: 2", media="Content-Type: multipart/form-data"),
        WEBHOOK),
    passes("a body on a GET", get("/api/products", f"Content-Length: {len(HIDDEN)}") + HIDDEN),
    passes("a chunked body on a GET", get("/api/products", CHUNKED) + b"%x\r\n%b\r\n0\r\n\r\n" % (len(HIDDEN), HIDDEN)),
]  # fmt: skip
METHODS_AND_PROTOCOLS = [
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
FORMS = [*FRAMINGS, *CHUNKS, *LINES, *HEADERS_THAT_STAND_ONCE, *TARGETS, *SIZES, *BODIES, *METHODS_AND_PROTOCOLS]
