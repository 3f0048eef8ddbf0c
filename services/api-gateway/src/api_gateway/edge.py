"""The edge: one pure ASGI application. A request passes these steps; the first failing one responds (contract sections
2 to 5).

head limits → load → gateway endpoints → token → quota → route and method → announced body → idempotency key →
body → service
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from api_gateway.access import record_access
from api_gateway.addresses import ClientAddresses
from api_gateway.bodies import check_announced_body, read_body, read_whole_body
from api_gateway.call import Call
from api_gateway.cells import CellRouter
from api_gateway.compression import VARIES
from api_gateway.connection import ClientDisconnected, UpstreamFailed
from api_gateway.cors import CrossOrigin
from api_gateway.credentials import account_named_in, session_named_in
from api_gateway.forms import buffered_form
from api_gateway.forwarding import Forwarder
from api_gateway.gateway_endpoints import GatewayEndpoints
from api_gateway.headers import Headers
from api_gateway.idempotency import key_hash_of
from api_gateway.idempotent_requests import IdempotentExecutor
from api_gateway.key_tokens import KeyTokens
from api_gateway.load import Load, Overloaded
from api_gateway.metrics import Metrics
from api_gateway.page_cache import PageCache
from api_gateway.quotas import Quotas
from api_gateway.routing import RouteTable, allowed_methods, deprecation_headers
from api_gateway.sliding_window import Counter, QuotaStatus
from api_gateway.tiers import Tiers
from api_gateway.tracing import ServerSpans
from api_gateway.work import MergedLists
from common.auth.api_keys import PREFIX
from common.auth.caller import Caller
from common.auth.guards import Access
from common.auth.tokens import TokenVerifier, bearer_token
from common.observability import access_log
from common.observability.logging import REQUEST_ID, get_logger
from common.primitives.clock import Clock
from common.primitives.problems import NotFound, Problem, RateLimited, Unauthorized, Unavailable, ValidationFailed
from common.web.endpoint_table import Media, Quota, Route

log = get_logger(__name__)

# Set by the server's protocol when a head exceeds its limit: the status to respond with.
HEAD_ERROR: Final = "refused_head"
# Set by the server's protocol when the whole body has arrived, mostly with its head: no timeout is needed, which costs
# 5 us.
WHOLE_BODY: Final = "whole_body"
HEAD_ERRORS: Final[Mapping[int, str]] = {
    400: "The request is not valid HTTP.",
    414: "The URL is longer than 8 KiB.",
    431: "The headers are longer than 16 KiB.",
}
_UNKNOWN_ROUTE: Final = "unknown"
# Scanners and search engines cause these all day; logging them would only fill the log.
_COMMON_ERRORS: Final = frozenset({401, 404, 429, 499})
# A refresh token that identity rejects: unknown, expired, or no token at all.
_REFUSED: Final = frozenset({401, 403, 422})
_STRICT: Final = frozenset({Quota.SENSITIVE, Quota.ACCOUNT, Quota.SESSION})


@dataclass(frozen=True, slots=True)
class ClientTimeouts:
    """Timeouts of a client in seconds: to send a head, to send a body, and to read more of a response."""

    head_seconds: float
    body_seconds: float
    response_seconds: float


@dataclass(frozen=True, slots=True)
class Edge:
    """Every step of a request, built by the composition root."""

    routes: RouteTable
    verifier: TokenVerifier
    key_tokens: KeyTokens
    clock: Clock
    addresses: ClientAddresses
    tiers: Tiers
    quotas: Quotas
    window_seconds: int
    timeouts: ClientTimeouts
    load: Load
    forwarder: Forwarder
    idempotent_requests: IdempotentExecutor
    page_cache: PageCache | None
    cells: CellRouter | None
    work: MergedLists
    pages: GatewayEndpoints
    cross_origin: CrossOrigin
    metrics: Metrics
    spans: ServerSpans
    base_url: str
    security_headers: Headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call(
            scope,
            receive,
            send,
            instant=self.clock.now(),
            window_seconds=self.window_seconds,
        )
        call.extra = [*self.security_headers, *self.cross_origin.headers(call.headers)]
        peer = scope["client"][0] if scope["client"] else ""
        call.address = self.addresses.of(peer, call.headers.get(b"x-forwarded-for"))
        self.load.running += 1
        try:
            REQUEST_ID.set(call.request_id)
            trusted = self.addresses.trusts(peer)
            if self.spans.recording:
                with self.spans.of(call, trusted=trusted):
                    await self._process_with_errors(call)
            else:
                self.spans.start_trace(call, trusted=trusted)
                await self._process_with_errors(call)
        finally:
            self.load.running -= 1
            name = call.route.name if call.route is not None else _UNKNOWN_ROUTE
            self.metrics.record_request(name, call.status, time.perf_counter() - call.started_at)
            if access_log.is_enabled():
                record_access(call)
            if call.is_admitted and call.head_was_sent:
                self.load.record(call.head_seconds)

    async def error_without_request(self, peer: str, status: int, raw_path: bytes) -> bytes:
        """Return the whole response in bytes to input that is not a valid request (400, 431)."""
        call = Call.unparsed(raw_path, self.clock.now(), self.window_seconds)
        call.extra = [*self.security_headers]
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
        await self._respond_problem(call, ValidationFailed(HEAD_ERRORS[status], status=status))
        self.metrics.record_request(_UNKNOWN_ROUTE, status, 0.0)
        return bytes(written)

    async def _process_with_errors(self, call: Call) -> None:
        """Map every error to a problem document, unless the response has started."""
        try:
            await self._process(call)
        except ClientDisconnected:
            call.status = call.status or 499
        except UpstreamFailed as failure:
            await self._respond_failure(call, failure)
        except Problem as problem:
            await self._respond_problem(call, problem)
        except Exception as error:
            log.error("unhandled exception", path=call.path, exc_info=error)
            await self._respond_problem(call, Problem())
        if call.status >= 400 and call.status not in _COMMON_ERRORS:
            # The log entry makes the request id that the client got searchable.
            log.info("request failed", route=call.route.name if call.route else _UNKNOWN_ROUTE, status=call.status)

    async def _respond_problem(self, call: Call, problem: Problem) -> None:
        if call.head_was_sent:
            # The client sees the connection close early and detects the incomplete response.
            log.error("response aborted after its start", path=call.path, error=repr(problem))
            return
        if call.quota_status is None:
            call.quota_status = await self.quotas.peek(self.tiers.of_address(call.address), call.now)
        await call.respond_problem(problem, self.base_url)

    async def _respond_failure(self, call: Call, failure: UpstreamFailed) -> None:
        upstream = call.route.upstream if call.route is not None else ""
        self.metrics.upstream_failures[upstream] += 1
        log.error("service did not respond", upstream=upstream, error=failure.reason)
        unavailable = Unavailable()
        unavailable.__cause__ = failure
        await self._respond_problem(call, unavailable)

    async def _process(self, call: Call) -> None:
        head_error = call.scope["state"].get(HEAD_ERROR)
        if head_error is not None:
            raise ValidationFailed(HEAD_ERRORS[head_error], status=head_error)
        routes = self.routes.find(call.path, call.instant)
        route = call.route = routes.get("GET" if call.method == "HEAD" else call.method)
        self._shed(call, route)
        if not routes and await self._respond_own_page(call):
            return
        if self.cross_origin.is_preflight(call.method, call.headers):
            await self._respond_preflight(call, allowed_methods(routes))
            return
        if (
            self.cells is not None
            and route is not None
            and await self.cells.respond(call, route, self._body_seconds(call))
        ):
            return
        # Errors of a deprecated route have its headers too, because their clients must migrate as well.
        call.extra = [*call.extra, *deprecation_headers(route)] if route and route.deprecated_at else call.extra
        if route is not None and route.compressed:
            call.extra = [*call.extra, VARIES]
        if route is not None and route.quota in (Quota.ACCOUNT, Quota.SESSION):
            await self._process_credentials(call, route)
            return
        await self._admit(call, route)
        if route is None:
            raise _no_route(routes)
        await self._serve(call, route)

    async def _serve(self, call: Call, route: Route) -> None:
        """Respond to an admitted request, mostly by its service."""
        if call.method in ("GET", "HEAD"):
            if not await self._respond_by_itself(call, route):
                await self._forward(call, route, b"")
        else:
            await self._process_body(call, route)
            if self.page_cache is not None and route.upstream in self.page_cache.services and call.status < 300:
                self.page_cache.invalidate_all()

    def _shed(self, call: Call, route: Route | None) -> None:
        """Reject requests beyond the limit of concurrent ones. Health endpoints always respond."""
        of_machines = route is not None and route.quota is Quota.MACHINES
        if self.load.is_exceeded(of_machines=of_machines) and not call.path.startswith("/health/"):
            self.metrics.shed["machines" if of_machines else "people"] += 1
            raise Overloaded
        call.is_admitted = True

    async def _respond_by_itself(self, call: Call, route: Route) -> bool:
        """Respond with a merged list or a shared page of the catalog. Return False when the request must be
        forwarded.
        """
        if route.is_merged_list:
            await self.work.respond(call, route)
            return True
        if self.page_cache is None or not route.shared or call.is_private or call.method != "GET":
            return False
        return await self.page_cache.respond(call, route)

    async def _respond_own_page(self, call: Call) -> bool:
        page = self.pages.find(call.path, call.headers.get(b"accept"))
        if page is None:
            return False
        call.quota_status = await self.quotas.peek(self.tiers.of_address(call.address), call.now)
        await page(call)
        return True

    async def _respond_preflight(self, call: Call, methods: str) -> None:
        """Respond without counting: browsers send preflights themselves, and a page of ten requests would count
        twenty.
        """
        call.quota_status = await self.quotas.peek(self.tiers.of_address(call.address), call.now)
        await call.respond(204, self.cross_origin.preflight_headers(call.headers, methods), b"")

    async def _admit(self, call: Call, route: Route | None) -> None:
        """Check the token, then the quota. An invalid token counts against its address; 429 takes precedence over
        401.
        """
        rejection: Problem | None = None
        access = Access.ANONYMOUS if route is None else route.access
        if access is not Access.OPEN and access is not Access.CREDENTIALS:
            try:
                call.caller = await self._caller_of(call)
            except Unavailable:
                raise
            except Problem as problem:
                rejection = problem
            if rejection is None and call.caller is None and access is Access.TOKEN:
                rejection = Unauthorized()
        await self._count(call, route)
        if rejection is not None:
            raise rejection

    async def _caller_of(self, call: Call) -> Caller | None:
        authorization = call.headers.get(b"authorization")
        if authorization is None:
            return None
        if len(call.headers) < len(call.scope["headers"]) and _is_sent_twice(b"authorization", call.scope["headers"]):
            raise Unauthorized
        token = bearer_token(authorization.decode("latin-1"))
        if token is None:
            return None
        if token.startswith(PREFIX):
            token = await self.key_tokens.token_of(token, call.address)
            # Services get the key's token in place of the key.
            call.headers[b"authorization"] = b"Bearer " + token.encode()
        return await self.verifier.caller_of(token)

    async def _count(self, call: Call, route: Route | None) -> None:
        quota = Quota.BY_CALLER if route is None else route.quota
        counter = self.tiers.of(quota, call.caller, call.address)
        if quota is Quota.UNCOUNTED:
            call.quota_status = await self.quotas.peek(self.tiers.of_address(call.address), call.now)
            return
        quota_status = await self.quotas.count((counter,), call.now, strict=quota in _STRICT)
        self._apply_quota(call, counter, quota_status)

    def _apply_quota(self, call: Call, counter: Counter, quota_status: QuotaStatus) -> None:
        call.quota_status = quota_status
        if not quota_status.admitted:
            self.metrics.rate_limited[counter.tier] += 1
            seconds = quota_status.retry_after_seconds(call.now, call.window)
            raise RateLimited(headers={"Retry-After": str(seconds)})

    async def _process_credentials(self, call: Call, route: Route) -> None:
        """Process sign-up, login and refresh. The body names the counted account, so it is read first."""
        check_announced_body(route, call.headers)
        body = await read_whole_body(call.receive, route, self._body_seconds(call))
        if route.quota is Quota.SESSION:
            await self._refresh(call, route, body)
            return
        counters = self.tiers.of_account(account_named_in(body), call.address)
        quota_status = await self.quotas.count(counters, call.now, strict=True)
        self._apply_quota(call, counters[0], quota_status)
        await self._forward(call, route, body)

    async def _refresh(self, call: Call, route: Route, body: bytes) -> None:
        """Count a refresh by its session. A refused one counts against its address as well, and is 429 beyond that
        ceiling.

        A valid token passes even then: a script with invalid ones must not sign out all users behind the same address.
        """
        refused = self.tiers.of_refused_refresh(call.address)
        session = session_named_in(body)
        counter = self.tiers.of_session(session) if session else refused
        self._apply_quota(call, counter, await self.quotas.count((counter,), call.now, strict=True))
        response = await self.forwarder.send_request(call, route, body, watch_client=True)
        try:
            if session and response.status in _REFUSED:
                self._apply_quota(call, refused, await self.quotas.count((refused,), call.now, strict=True))
            await self.forwarder.relay(call, response)
        finally:
            response.release()

    async def _process_body(self, call: Call, route: Route) -> None:
        check_announced_body(route, call.headers)
        key_hash = key_hash_of(call.headers.get(b"idempotency-key"), route.idempotency)
        if key_hash is None:
            await self._forward(call, route, await read_body(call.receive, route, self._body_seconds(call)))
        elif route.media is Media.IMAGE:
            async with buffered_form(call.receive, route, call.headers, self._body_seconds(call)) as form:
                await self.idempotent_requests.run(
                    call, route, key_hash, form.chunks(), comparable=await form.comparable()
                )
        else:
            body = await read_whole_body(call.receive, route, self._body_seconds(call))
            await self.idempotent_requests.run(call, route, key_hash, body, comparable=body)

    def _body_seconds(self, call: Call) -> float | None:
        """Return the time left for the body in seconds; None when it has arrived."""
        return None if WHOLE_BODY in call.scope["state"] else self.timeouts.body_seconds

    async def _forward(self, call: Call, route: Route, body: bytes | AsyncIterator[bytes]) -> None:
        response = await self.forwarder.send_request(call, route, body, watch_client=True)
        try:
            await self.forwarder.relay(call, response)
        finally:
            response.release()


def _no_route(routes: Mapping[str, Route]) -> Problem:
    """Return the error of an unknown path (404), or of an unknown method of a path (405)."""
    if not routes:
        return NotFound()
    allow = {"Allow": allowed_methods(routes)}
    return ValidationFailed("This path does not support this method.", status=405, headers=allow)


def _is_sent_twice(name: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    return sum(sent == name for sent, _ in headers) > 1
