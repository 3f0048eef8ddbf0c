"""Catalog pages that anonymous readers share for a few seconds.

A response is cached only if its service marks it public and its route is shared. A product's event removes its page;
every write to the service through this gateway removes all pages, because a purchase changes the stock shown.

A page that is being fetched goes only to the requests that waited for it. An error goes only to those that
wait for it, and is never cached.

**Anonymous readers share pages** of routes with `is_shared` (products, a product, categories). A page is a 200
response to a GET without a token, marked `public`, in the envelope; each reader gets their own time and request id.
At most 1,000 pages or 16 MiB are cached, and concurrent readers share one fetch. `orders.product_changed.v1` removes
a page, and a write to the service through this gateway removes all. Changes without an event appear after the
seconds.

**Browsers may store the anonymous catalog** (`Cache-Control: public, no-cache` with an `ETag`): they revalidate
before each use. A response to a request with a token is `no-store`.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import msgspec

from api_gateway.call import PROBLEM, Call
from api_gateway.compression import ENCODED, CompressedPrefix, accepted_codings, with_weak_etag
from api_gateway.forwarding import Forwarder, ResponseTooLong, read_response
from api_gateway.headers import Headers, etag_matches, passed_to_client
from api_gateway.limits import LIMITS, EdgeLimits
from api_gateway.metrics import Metrics
from api_gateway.sliding_window import MICROSECONDS
from common.primitives.clock import iso
from common.primitives.json_records import JsonObject
from common.web.endpoint_table import Route

_META: Final = b',"meta":'
_encode: Final = msgspec.json.Encoder().encode
# The headers of the fetch: nothing of the request that triggered it.
_AS_ANYBODY: Final[Mapping[bytes, bytes]] = {b"accept": b"application/json"}
_NOT_CACHED: Final = frozenset({b"content-length", b"age"})

Key = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Page:
    """A cached response without its `meta`, which is new for each reader. `fetched_at` is in microseconds."""

    content: bytes
    meta: JsonObject
    headers: Headers
    tag: bytes
    fetched_at: int
    compressed: CompressedPrefix

    @property
    def size(self) -> int:
        return len(self.content) + self.compressed.size + 1_024


@dataclass(frozen=True, slots=True)
class CachedError:
    """A problem document instead of a page; each reader gets their own `requestId`."""

    status: int
    headers: Headers
    problem: JsonObject


Fetched = Page | CachedError | None


@dataclass(slots=True)
class _Flight:
    """A page that is being fetched."""

    product_id: str
    is_stale: bool = False
    task: "asyncio.Task[Fetched]" = field(init=False)


class PageCache:
    """As many pages and bytes as `limits` allow, each for `seconds`. Concurrent readers share one fetch."""

    def __init__(
        self,
        forwarder: Forwarder,
        metrics: Metrics,
        routes: Iterable[Route],
        seconds: float,
        limits: EdgeLimits = LIMITS,
    ) -> None:
        self._limits = limits
        self._forwarder, self._metrics = forwarder, metrics
        self.services = frozenset(route.upstream for route in routes if route.shared)
        self._life = int(seconds * MICROSECONDS)
        self._pages: OrderedDict[Key, Page] = OrderedDict()
        self._bytes = 0
        self._flights: dict[Key, _Flight] = {}

    async def respond(self, call: Call, route: Route) -> bool:
        """Respond to an anonymous GET; return False for a page that must be forwarded. Raises UpstreamFailed."""
        key = (call.path, call.scope["query_string"])
        kept = self._find_fresh(key, call.now)
        if kept is not None:
            self._metrics.page_cache["hit"] += 1
        fetched = kept or await self._fetched(key, call, route)
        match fetched:
            case Page():
                await _send(call, fetched)
            case CachedError():
                await _respond_error(call, fetched)
        return fetched is not None

    def invalidate_product(self, product_id: UUID) -> None:
        """Remove the product's page and every list; pages of other products do not show it."""
        named = str(product_id)
        for key in [key for key in self._pages if _product_of(key) in ("", named)]:
            self._remove(key)
        for key, flight in [*self._flights.items()]:
            if flight.product_id in ("", named):
                flight.is_stale = True
                del self._flights[key]

    def invalidate_all(self) -> None:
        """Remove all pages: a forwarded write may change any of them, and its author reads it at once."""
        self._pages.clear()
        self._bytes = 0
        for flight in self._flights.values():
            flight.is_stale = True
        self._flights.clear()

    def _find_fresh(self, key: Key, now: int) -> Page | None:
        page = self._pages.get(key)
        if page is None:
            return None
        if now - page.fetched_at >= self._life:
            self._remove(key)
            return None
        self._pages.move_to_end(key)
        return page

    async def _fetched(self, key: Key, call: Call, route: Route) -> Fetched:
        flight = self._flights.get(key)
        if flight is None:
            self._metrics.page_cache["miss"] += 1
            flight = self._flights[key] = _Flight(_product_of(key))
            # A separate task: the first reader may disconnect while others wait.
            flight.task = asyncio.create_task(self._fetch(key, flight, call, route))
        else:
            self._metrics.page_cache["joined"] += 1
        return await asyncio.shield(flight.task)

    async def _fetch(self, key: Key, flight: _Flight, call: Call, route: Route) -> Fetched:
        try:
            response = await self._forwarder.send_request(call, route, b"", watch_client=False, headers=_AS_ANYBODY)
            try:
                content = await read_response(response)
            except ResponseTooLong:
                return None
            finally:
                response.release()
            if response.status >= 400:
                return _error_of(response.status, response.headers, content)
            page = _page_of(response.status, response.headers, content, call.now)
            if page is not None and not flight.is_stale:
                self._store(key, page)
            return page
        finally:
            if not flight.is_stale:
                del self._flights[key]

    def _store(self, key: Key, page: Page) -> None:
        self._remove(key)
        self._pages[key] = page
        self._bytes += page.size
        while self._bytes > self._limits.cached_bytes_max or len(self._pages) > self._limits.cached_pages_max:
            self._remove(next(iter(self._pages)))

    def _remove(self, key: Key) -> None:
        page = self._pages.pop(key, None)
        if page is not None:
            self._bytes -= page.size


async def _send(call: Call, page: Page) -> None:
    headers = [*page.headers, (b"age", b"%d" % max(0, (call.now - page.fetched_at) // MICROSECONDS))]
    if etag_matches(page.tag, call.headers.get(b"if-none-match")):
        await call.start(304, [pair for pair in headers if pair[0] != b"content-type"])
        await call.send({"type": "http.response.body", "body": b""})
        return
    meta = {**page.meta, "timestamp": iso(call.instant), "requestId": call.request_id}
    end = _META + _encode(meta) + b"}"
    if accepted_codings(call.headers.get(b"accept-encoding")).compresses(len(page.content) + len(end)):
        await call.respond(200, [ENCODED, *headers], page.compressed.with_suffix(end))
    else:
        await call.respond(200, headers, page.content + end)


async def _respond_error(call: Call, rejection: CachedError) -> None:
    problem = {**rejection.problem, "requestId": call.request_id}
    await call.respond(rejection.status, [*rejection.headers], _encode(problem))


def _error_of(status: int, headers: Headers, content: bytes) -> CachedError | None:
    """Return a problem document of the service; None for a response that only the forwarder can map."""
    named = dict(headers)
    if b"set-cookie" in named or named.get(b"content-type") != PROBLEM:
        return None
    passed = [pair for pair in passed_to_client(headers, private=True) if pair[0] not in _NOT_CACHED]
    return CachedError(status, passed, msgspec.json.decode(content, type=dict))


def _page_of(status: int, headers: Headers, content: bytes, now: int) -> Page | None:
    """Return a complete, public page in the envelope; None for everything else, above all errors."""
    named = dict(headers)
    if status != 200 or b"set-cookie" in named or named.get(b"content-type") != b"application/json":
        return None
    if b"public" not in [part.strip() for part in named.get(b"cache-control", b"").split(b",")]:
        return None
    before, found, meta = content.rpartition(_META)
    if not found:
        return None
    passed = [pair for pair in with_weak_etag(passed_to_client(headers, private=False)) if pair[0] not in _NOT_CACHED]
    page_meta = msgspec.json.decode(meta[:-1], type=dict)
    return Page(before, page_meta, passed, dict(passed).get(b"etag", b""), now, CompressedPrefix(before))


def _product_of(key: Key) -> str:
    """Return the product of a product page; empty for a list, which may show any product."""
    start, _, last = key[0].rpartition("/")
    return last.lower() if start == "/api/products" else ""
