"""Pages of the catalog that anonymous readers share for a few seconds.

Only what a service calls public is kept, and only under a route that says so. A page is dropped when a product changes, and all are when
a write to their service passes through this gateway: a purchase changes the stock that is shown, and says so only when it takes the last.
A page that was being fetched at such a moment is given to those who asked before it, and to nobody after. A refusal is given to those
who wait for it, and kept for nobody.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import msgspec

from api_gateway.call import PROBLEM, Call
from api_gateway.compression import ENCODED, CompressedBeginning, accepted_codings, weakened
from api_gateway.forwarding import Forwarder, ResponseTooLong, read_answer
from api_gateway.headers import Headers, passed_to_client, tag_is_known
from api_gateway.metrics import Metrics
from api_gateway.routing import Route
from api_gateway.sliding_window import MICROSECONDS
from common.primitives.clock import iso

# A thousand pages of 20 products are 10 MB; what is used least makes room.
PAGES_MAX: Final = 1_000
BYTES_MAX: Final = 16 * 1024 * 1024

_META: Final = b',"meta":'
_encode: Final = msgspec.json.Encoder().encode
# What a page is asked for with: nothing of who happened to ask first.
_AS_ANYBODY: Final[Mapping[bytes, bytes]] = {b"accept": b"application/json"}
_NOT_CACHED: Final = frozenset({b"content-length", b"age"})

Key = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Page:
    """A kept answer, cut before its `meta`, which is written anew for each reader. `born` is in microseconds."""

    content: bytes
    meta: dict[str, Any]
    headers: Headers
    tag: bytes
    born: int
    packed: CompressedBeginning

    @property
    def size(self) -> int:
        return len(self.content) + self.packed.size + 1_024


@dataclass(frozen=True, slots=True)
class CachedError:
    """A problem document that was answered in the place of a page; each reader's has the `requestId` of their own request."""

    status: int
    headers: Headers
    problem: dict[str, Any]


Fetched = Page | CachedError | None


@dataclass(slots=True)
class _Flight:
    """A page on its way."""

    product_id: str
    is_stale: bool = False
    task: "asyncio.Task[Fetched]" = field(init=False)


class PageCache:
    """At most PAGES_MAX pages of at most BYTES_MAX, each for `seconds`; each fetched once, however many wait for it."""

    def __init__(self, forwarder: Forwarder, metrics: Metrics, routes: Iterable[Route], seconds: float) -> None:
        self._forwarder, self._metrics = forwarder, metrics
        self.services = frozenset(route.upstream for route in routes if route.is_shared)
        self._life = int(seconds * MICROSECONDS)
        self._pages: OrderedDict[Key, Page] = OrderedDict()
        self._bytes = 0
        self._flights: dict[Key, _Flight] = {}

    async def answer(self, call: Call, route: Route) -> bool:
        """Answers a GET of nobody in particular; False when the page is not one to be shared, and is forwarded as any other.

        Raises UpstreamFailed.
        """
        key = (call.path, call.scope["query_string"])
        kept = self._kept(key, call.now)
        if kept is not None:
            self._metrics.page_cache["hit"] += 1
        fetched = kept or await self._fetched(key, call, route)
        match fetched:
            case Page():
                await _send(call, fetched)
            case CachedError():
                await _refuse(call, fetched)
        return fetched is not None

    def product_changed(self, product_id: UUID) -> None:
        """Forgets the product's page and every list; the pages of other products say nothing of it."""
        named = str(product_id)
        for key in [key for key in self._pages if _product_of(key) in ("", named)]:
            self._forget(key)
        for key, flight in [*self._flights.items()]:
            if flight.product_id in ("", named):
                flight.is_stale = True
                del self._flights[key]

    def something_written(self) -> None:
        """Forgets everything: a write that passed here may show on any page, and whoever wrote reads it again at once."""
        self._pages.clear()
        self._bytes = 0
        for flight in self._flights.values():
            flight.is_stale = True
        self._flights.clear()

    def _kept(self, key: Key, now: int) -> Page | None:
        page = self._pages.get(key)
        if page is None:
            return None
        if now - page.born >= self._life:
            self._forget(key)
            return None
        self._pages.move_to_end(key)
        return page

    async def _fetched(self, key: Key, call: Call, route: Route) -> Fetched:
        flight = self._flights.get(key)
        if flight is None:
            self._metrics.page_cache["miss"] += 1
            flight = self._flights[key] = _Flight(_product_of(key))
            # A task of its own: whoever asked first may leave, and the others still wait.
            flight.task = asyncio.create_task(self._fetch(key, flight, call, route))
        else:
            self._metrics.page_cache["joined"] += 1
        return await asyncio.shield(flight.task)

    async def _fetch(self, key: Key, flight: _Flight, call: Call, route: Route) -> Fetched:
        try:
            answer = await self._forwarder.ask(call, route, b"", watch_client=False, headers=_AS_ANYBODY)
            try:
                content = await read_answer(answer)
            except ResponseTooLong:
                return None
            finally:
                answer.release()
            if answer.status >= 400:
                return _error_of(answer.status, answer.headers, content)
            page = _page_of(answer.status, answer.headers, content, call.now)
            if page is not None and not flight.is_stale:
                self._keep(key, page)
            return page
        finally:
            if not flight.is_stale:
                del self._flights[key]

    def _keep(self, key: Key, page: Page) -> None:
        self._forget(key)
        self._pages[key] = page
        self._bytes += page.size
        while self._bytes > BYTES_MAX or len(self._pages) > PAGES_MAX:
            self._forget(next(iter(self._pages)))

    def _forget(self, key: Key) -> None:
        page = self._pages.pop(key, None)
        if page is not None:
            self._bytes -= page.size


async def _send(call: Call, page: Page) -> None:
    headers = [*page.headers, (b"age", b"%d" % max(0, (call.now - page.born) // MICROSECONDS))]
    if tag_is_known(page.tag, call.headers.get(b"if-none-match")):
        await call.start(304, [pair for pair in headers if pair[0] != b"content-type"])
        await call.send({"type": "http.response.body", "body": b""})
        return
    meta = {**page.meta, "timestamp": iso(call.instant), "requestId": call.request_id}
    end = _META + _encode(meta) + b"}"
    if accepted_codings(call.headers.get(b"accept-encoding")).compresses(len(page.content) + len(end)):
        await call.answer(200, [ENCODED, *headers], page.packed.with_end(end))
    else:
        await call.answer(200, headers, page.content + end)


async def _refuse(call: Call, refusal: CachedError) -> None:
    problem = {**refusal.problem, "requestId": call.request_id}
    await call.answer(refusal.status, [*refusal.headers], _encode(problem))


def _error_of(status: int, headers: Headers, content: bytes) -> CachedError | None:
    """The refusal, when it is a problem document of ours; None for what only the forwarder knows how to answer."""
    named = dict(headers)
    if b"set-cookie" in named or named.get(b"content-type") != PROBLEM:
        return None
    passed = [pair for pair in passed_to_client(headers, private=True) if pair[0] not in _NOT_CACHED]
    return CachedError(status, passed, msgspec.json.decode(content, type=dict[str, Any]))


def _page_of(status: int, headers: Headers, content: bytes, now: int) -> Page | None:
    """The page, when it is whole, everybody's, and an envelope of ours; None for everything else, errors above all."""
    named = dict(headers)
    if status != 200 or b"set-cookie" in named or named.get(b"content-type") != b"application/json":
        return None
    if b"public" not in [part.strip() for part in named.get(b"cache-control", b"").split(b",")]:
        return None
    before, found, meta = content.rpartition(_META)
    if not found:
        return None
    passed = [pair for pair in weakened(passed_to_client(headers, private=False)) if pair[0] not in _NOT_CACHED]
    kept_meta = msgspec.json.decode(meta[:-1], type=dict[str, Any])
    return Page(before, kept_meta, passed, dict(passed).get(b"etag", b""), now, CompressedBeginning(before))


def _product_of(key: Key) -> str:
    """The product whose own page this is; empty for a list, which may hold any."""
    start, _, last = key[0].rpartition("/")
    return last.lower() if start == "/api/products" else ""
