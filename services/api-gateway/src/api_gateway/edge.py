"""The edge: one pure ASGI application. A request passes these steps, and the first that refuses answers (contract sections 2 to 5).

head limits → own pages → token → quota → route and method → announced body → idempotency key → body → service
"""

import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import msgspec
from starlette.types import Message, Receive, Scope, Send

from api_gateway.addresses import ClientAddresses
from api_gateway.bodies import check_announced_body, read_body, read_whole_body
from api_gateway.call import Call
from api_gateway.compression import VARIES
from api_gateway.connection import ClientGone, UpstreamFailed
from api_gateway.cors import CrossOrigin
from api_gateway.forms import held_form
from api_gateway.forwarding import Forwarder
from api_gateway.gateway_endpoints import GatewayEndpoints
from api_gateway.headers import Headers
from api_gateway.idempotency import key_hash_of
from api_gateway.idempotent_requests import IdempotentExecutor
from api_gateway.load import Load, Overloaded
from api_gateway.metrics import Metrics
from api_gateway.page_cache import PageCache
from api_gateway.quotas import Quotas
from api_gateway.routing import Access, Media, Quota, Route, RouteTable, allowed_methods
from api_gateway.sliding_window import Counter, QuotaStatus
from api_gateway.tiers import Tiers
from api_gateway.tracing import ServerSpans
from common.auth.caller import Caller
from common.auth.tokens import TokenVerifier, bearer_token
from common.observability.logging import REQUEST_ID, get_logger
from common.primitives.clock import Clock
from common.primitives.problems import NotFound, Problem, RateLimited, Unauthorized, Unavailable, ValidationFailed

log = get_logger(__name__)

# Set by the server's protocol when a head is over its limit: the status that the application shall answer.
REFUSED_HEAD: Final = "refused_head"
# Set by it when the last byte of a body has come, mostly with its head: nobody has to be waited for. A timeout costs 5 us.
WHOLE_BODY: Final = "whole_body"
_HEAD_ERRORS: Final[Mapping[int, str]] = {
    400: "The request is not valid HTTP.",
    414: "The URL is longer than 8 KiB.",
    431: "The headers are longer than 16 KiB.",
}
_UNKNOWN_ROUTE: Final = "unknown"
# What strangers and search engines collect all day long would only fill the log.
_COMMON_ERRORS: Final = frozenset({401, 404, 429, 499})
_STRICT: Final = frozenset({Quota.SENSITIVE, Quota.ACCOUNT, Quota.SESSION})


@dataclass(frozen=True, slots=True)
class ClientTimeouts:
    """How long a client may keep the edge waiting (seconds): for a head, for a whole body, and until it takes an answer."""

    head_seconds: float
    body_seconds: float
    answer_seconds: float


@dataclass(frozen=True, slots=True)
class Edge:
    """Everything that a request meets, put together by the composition root."""

    routes: RouteTable
    verifier: TokenVerifier
    clock: Clock
    addresses: ClientAddresses
    tiers: Tiers
    quotas: Quotas
    window_seconds: int
    timeouts: ClientTimeouts
    load: Load
    forwarder: Forwarder
    keyed: IdempotentExecutor
    page_cache: PageCache | None
    pages: GatewayEndpoints
    cross_origin: CrossOrigin
    metrics: Metrics
    spans: ServerSpans
    base_url: str
    always: Headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call(
            scope,
            receive,
            send,
            instant=self.clock.now(),
            window_seconds=self.window_seconds,
        )
        call.extra = [*self.always, *self.cross_origin.headers(call.headers)]
        peer = scope["client"][0] if scope["client"] else ""
        call.address = self.addresses.of(peer, call.headers.get(b"x-forwarded-for"))
        self.load.running += 1
        try:
            REQUEST_ID.set(call.request_id)
            trusted = self.addresses.trusts(peer)
            if self.spans.recording:
                with self.spans.of(call, trusted=trusted):
                    await self._guarded(call)
            else:
                self.spans.begin(call, trusted=trusted)
                await self._guarded(call)
        finally:
            self.load.running -= 1
            name = call.route.name if call.route is not None else _UNKNOWN_ROUTE
            self.metrics.request_ended(name, call.status, time.perf_counter() - call.began)

    async def error_without_request(self, peer: str, status: int, raw_path: bytes) -> bytes:
        """The whole answer, as bytes, to what the server could not even read as a request (400, 431)."""
        call = Call.unread(raw_path, self.clock.now(), self.window_seconds)
        call.extra = [*self.always]
        call.address = self.addresses.of(peer, None)
        written = bytearray()

        async def write(message: Message) -> None:
            if message["type"] == "http.response.start":
                lines = [b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode()), b"connection: close"]
                lines += [b"%b: %b" % pair for pair in message["headers"]]
                written.extend(b"\r\n".join(lines) + b"\r\n\r\n")
            else:
                written.extend(message["body"])

        call.send = write
        await self._refuse(call, ValidationFailed(_HEAD_ERRORS[status], status=status))
        self.metrics.request_ended(_UNKNOWN_ROUTE, status, 0.0)
        return bytes(written)

    async def _guarded(self, call: Call) -> None:
        """Whatever goes wrong is a problem document, as long as the answer has not begun."""
        try:
            await self._pass(call)
        except ClientGone:
            call.status = call.status or 499
        except UpstreamFailed as failure:
            await self._respond_failure(call, failure)
        except Problem as problem:
            await self._refuse(call, problem)
        except Exception as error:
            log.error("unhandled exception", path=call.path, exc_info=error)
            await self._refuse(call, Problem())
        if call.status >= 400 and call.status not in _COMMON_ERRORS:
            # So that the request id that somebody was shown leads to what happened.
            log.info("request refused", route=call.route.name if call.route else _UNKNOWN_ROUTE, status=call.status)

    async def _refuse(self, call: Call, problem: Problem) -> None:
        if call.head_was_sent:
            # The client sees the connection close before the announced end, and knows that the answer is not whole.
            log.error("answer broken off", path=call.path, error=repr(problem))
            return
        if call.standing is None:
            call.standing = await self.quotas.look(self.tiers.of_address(call.address), call.now)
        await call.refuse(problem, self.base_url)

    async def _respond_failure(self, call: Call, failure: UpstreamFailed) -> None:
        upstream = call.route.upstream if call.route is not None else ""
        self.metrics.upstream_failures[upstream] += 1
        log.error("service did not answer", upstream=upstream, error=failure.reason)
        unavailable = Unavailable()
        unavailable.__cause__ = failure
        await self._refuse(call, unavailable)

    async def _pass(self, call: Call) -> None:
        refused_head = call.scope["state"].get(REFUSED_HEAD)
        if refused_head is not None:
            raise ValidationFailed(_HEAD_ERRORS[refused_head], status=refused_head)
        routes = self.routes.find(call.path, call.instant)
        route = call.route = routes.get("GET" if call.method == "HEAD" else call.method)
        self._shed(call, route)
        if not routes and await self._respond_own_page(call):
            return
        if self.cross_origin.is_preflight(call.method, call.headers):
            await self._respond_preflight(call, allowed_methods(routes))
            return
        # Refusals of a deprecated route say it too: whoever is refused is to change as well.
        call.extra = [*call.extra, *route.deprecation_headers] if route and route.deprecated_at else call.extra
        if route is not None and route.is_compressed:
            call.extra = [*call.extra, VARIES]
        if route is not None and route.quota in (Quota.ACCOUNT, Quota.SESSION):
            await self._pass_credentials(call, route)
            return
        await self._admit(call, route)
        if route is None:
            raise _unknown(routes)
        if call.method in ("GET", "HEAD"):
            if await self._respond_cached(call, route):
                return
            await self._forward(call, route, b"")
        else:
            await self._pass_body(call, route)
            if self.page_cache is not None and route.upstream in self.page_cache.services and call.status < 300:
                self.page_cache.something_written()

    def _shed(self, call: Call, route: Route | None) -> None:
        """Refuses whatever comes while too much is under way. Health is always answered."""
        of_machines = route is not None and route.quota is Quota.MACHINES
        if self.load.is_too_much(of_machines=of_machines) and not call.path.startswith("/health/"):
            self.metrics.shed["machines" if of_machines else "people"] += 1
            raise Overloaded

    async def _respond_cached(self, call: Call, route: Route) -> bool:
        """A page of the catalog that others may just have asked for as well."""
        if self.page_cache is None or not route.is_shared or call.is_private or call.method != "GET":
            return False
        return await self.page_cache.answer(call, route)

    async def _respond_own_page(self, call: Call) -> bool:
        page = self.pages.find(call.path)
        if page is None:
            return False
        call.standing = await self.quotas.look(self.tiers.of_address(call.address), call.now)
        await page(call)
        return True

    async def _respond_preflight(self, call: Call, methods: str) -> None:
        """Not counted: a browser asks by itself, and a page of ten requests would consume twenty."""
        call.standing = await self.quotas.look(self.tiers.of_address(call.address), call.now)
        await call.answer(204, self.cross_origin.preflight_headers(call.headers, methods), b"")

    async def _admit(self, call: Call, route: Route | None) -> None:
        """Token, then quota: a refused token counts against its address, and what is over its quota is 429 before it is 401."""
        refusal: Problem | None = None
        access = Access.ANONYMOUS if route is None else route.access
        if access is not Access.OPEN:
            try:
                call.caller = await self._caller_of(call)
            except Unavailable:
                raise
            except Problem as problem:
                refusal = problem
            if refusal is None and call.caller is None and access is Access.TOKEN:
                refusal = Unauthorized()
        await self._count(call, route)
        if refusal is not None:
            raise refusal

    async def _caller_of(self, call: Call) -> Caller | None:
        authorization = call.headers.get(b"authorization")
        if authorization is None:
            return None
        if len(call.headers) < len(call.scope["headers"]) and _is_sent_twice(b"authorization", call.scope["headers"]):
            raise Unauthorized
        token = bearer_token(authorization.decode("latin-1"))
        return None if token is None else await self.verifier.caller_of(token)

    async def _count(self, call: Call, route: Route | None) -> None:
        quota = Quota.BY_CALLER if route is None else route.quota
        counter = self.tiers.of(quota, call.caller, call.address)
        if quota is Quota.UNCOUNTED:
            call.standing = await self.quotas.look(self.tiers.of_address(call.address), call.now)
            return
        standing = await self.quotas.count((counter,), call.now, strict=quota in _STRICT)
        self._settle_quota(call, counter, standing)

    def _settle_quota(self, call: Call, counter: Counter, standing: QuotaStatus) -> None:
        call.standing = standing
        if not standing.admitted:
            self.metrics.rate_limited[counter.tier] += 1
            seconds = standing.retry_after_seconds(call.now, call.window)
            raise RateLimited(headers={"Retry-After": str(seconds)})

    async def _pass_credentials(self, call: Call, route: Route) -> None:
        """Sign-up, login, refresh: the body names the account that is counted, so it is read first."""
        check_announced_body(route, call.headers)
        body = await read_whole_body(call.receive, route, self._body_seconds(call))
        if route.quota is Quota.SESSION:
            counters = self.tiers.of_session(session_named_in(body), call.address)
        else:
            counters = self.tiers.of_account(account_named_in(body), call.address)
        standing = await self.quotas.count(counters, call.now, strict=True)
        self._settle_quota(call, counters[0], standing)
        await self._forward(call, route, body)

    async def _pass_body(self, call: Call, route: Route) -> None:
        check_announced_body(route, call.headers)
        key_hash = key_hash_of(call.headers.get(b"idempotency-key"), route.idempotency)
        if key_hash is None:
            await self._forward(call, route, await read_body(call.receive, route, self._body_seconds(call)))
        elif route.media is Media.IMAGE:
            async with held_form(call.receive, route, call.headers, self._body_seconds(call)) as form:
                await self.keyed.run(call, route, key_hash, form.chunks(), compared=await form.compared())
        else:
            body = await read_whole_body(call.receive, route, self._body_seconds(call))
            await self.keyed.run(call, route, key_hash, body, compared=body)

    def _body_seconds(self, call: Call) -> float | None:
        """How long the body may take from now; None when it is here."""
        return None if WHOLE_BODY in call.scope["state"] else self.timeouts.body_seconds

    async def _forward(self, call: Call, route: Route, body: bytes | AsyncIterator[bytes]) -> None:
        answer = await self.forwarder.ask(call, route, body, watch_client=True)
        try:
            await self.forwarder.relay(call, answer)
        finally:
            answer.release()


def _unknown(routes: Mapping[str, Route]) -> Problem:
    """The refusal of a path that nobody knows, or of a method that this path does not know."""
    if not routes:
        return NotFound()
    allow = {"Allow": allowed_methods(routes)}
    return ValidationFailed("This path does not know this method.", status=405, headers=allow)


def _is_sent_twice(name: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    return sum(sent == name for sent, _ in headers) > 1


class _Credentials(msgspec.Struct, rename="camel"):
    # `null` is how a client may leave one of the two out.
    email: str | None = None
    phone: str | None = None
    token: str = ""
    refresh_token: str = ""


_decode_credentials = msgspec.json.Decoder(_Credentials).decode


def account_named_in(body: bytes) -> str:
    """The account that a body names, as a hash, so that no store holds addresses of people; empty when it names none.

    A password reset names it by its token.
    """
    credentials = _credentials_in(body)
    named = (credentials.email or "").strip().lower() or _number(credentials.phone or "") or credentials.token
    return _hashed(named)


# With country code or without, with spaces or without: the last ten digits are the same number.
_NUMBER_DIGITS: Final = 10


def _number(phone: str) -> str:
    """A phone number in one spelling; whatever is no digit is not part of it."""
    return "".join(character for character in phone if "0" <= character <= "9")[-_NUMBER_DIGITS:]


def session_named_in(body: bytes) -> str:
    """The session of a refresh token, `<session>.<secret>`: what stands before the dot stays when the token rotates."""
    return _hashed(_credentials_in(body).refresh_token.partition(".")[0].lower())


def _credentials_in(body: bytes) -> _Credentials:
    try:
        return _decode_credentials(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Too deep for the decoder is no reason to fail: the service refuses it in the contract's words.
        return _Credentials()


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32] if name else ""
