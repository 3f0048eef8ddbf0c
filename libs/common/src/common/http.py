"""The HTTP face of a service: an application in which every error is a problem document and every endpoint says who may call it."""

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi.routing import APIRoute
from opentelemetry.trace import SpanKind
from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common import envelope, telemetry
from common.caller import ANONYMOUS, Caller
from common.clock import Clock
from common.ids import is_request_id, new_request_id
from common.logging import REQUEST_ID, get_logger
from common.problems import Unauthorized, ValidationFailed
from common.refusals import ANSWERS, answer_bug
from common.schemas import IN_DIGITS
from common.service_keys import admit_service
from common.tokens import TokenVerifier, bearer_token
from common.unknown_words import names_in_query, refuse_fields, refuse_other_encodings, refuse_other_orders

log = get_logger(__name__)

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
LIMIT_DEFAULT: Final = 20
LIMIT_MAX: Final = 100
# page x limit: beyond it an offset costs more than anybody gets from it (contract section 1).
OFFSET_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Guard:
    """Who may call an endpoint. Judged before the body is read: token, then permission, then step-up (contract section 5)."""

    anonymous: bool = False
    ignores_token: bool = False
    permission: str | None = None
    one_of: tuple[str, ...] = ()
    step_up: bool = False
    service_key: bool = False


def public(endpoint: Endpoint) -> Endpoint:
    """Anybody may call; a token that is sent must still be good."""
    return _guarded(endpoint, Guard(anonymous=True))


def before_sign_in(endpoint: Endpoint) -> Endpoint:
    """The way in: whoever refreshes may bring an expired token along, and it is not looked at."""
    return _guarded(endpoint, Guard(anonymous=True, ignores_token=True))


def signed_in(endpoint: Endpoint) -> Endpoint:
    """Anybody with a good token; what they see is the row policies' business."""
    return _guarded(endpoint, Guard())


def stepped_up(endpoint: Endpoint) -> Endpoint:
    """Anybody whose second factor is not older than 15 minutes, whatever their role: what changes one's own credentials."""
    return _guarded(endpoint, Guard(step_up=True))


def requires(permission: str, *, step_up: bool = False) -> Callable[[Endpoint], Endpoint]:
    """A good token with this permission, and with `step_up` an AAL2 sign-in not older than 15 minutes."""
    return lambda endpoint: _guarded(endpoint, Guard(permission=permission, step_up=step_up))


def requires_one_of(*permissions: str) -> Callable[[Endpoint], Endpoint]:
    """A good token with any of these permissions: the same door for people whose rights there differ by the row or the field."""
    return lambda endpoint: _guarded(endpoint, Guard(one_of=permissions))


def service_key_only(endpoint: Endpoint) -> Endpoint:
    """The functions: `Authorization: Bearer <SERVICE_ROLE_KEY>`, current or previous."""
    return _guarded(endpoint, Guard(service_key=True))


def _guarded(endpoint: Endpoint, guard: Guard) -> Endpoint:
    endpoint.__guard__ = guard  # type: ignore[attr-defined]
    return endpoint


@dataclass(frozen=True, slots=True)
class HttpContext:
    """What the HTTP layer of a service needs, kept in `app.state.http`."""

    verifier: TokenVerifier
    clock: Clock
    base_url: str
    service_keys: tuple[str, ...] = ()


class GuardedRoute(APIRoute):
    """A route that knows its guard; one without cannot be registered."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **arguments: Any) -> None:
        if not isinstance(getattr(endpoint, "__guard__", None), Guard):
            raise TypeError(
                f"{endpoint.__name__} does not say who may call it: add @public, @signed_in or @requires(...) below the route"
            )
        super().__init__(path, endpoint, **arguments)

    def get_route_handler(self) -> Handler:
        answer = self.get_answer()
        guard: Guard = self.endpoint.__guard__  # type: ignore[attr-defined]
        asked = names_in_query(self.dependant)
        # A list that names no sort has one order (contract section 15.7).
        has_one_order = "limit" in asked and "sort" not in asked
        # Whoever signs their requests reads the body's bytes; a form, which the reference is told of by hand, is read by its door.
        told_by_hand = "requestBody" in (self.openapi_extra or {})
        takes_no_body = (
            self.body_field is None
            and not told_by_hand
            and not guard.anonymous
            and not {"GET", "DELETE"} & (self.methods or set())
        )

        takes_json = self.body_field is not None

        async def checked(request: Request) -> Response:
            request.state.caller = await admit(request, guard)
            if has_one_order:
                refuse_other_orders(request)
            if (takes_no_body or takes_json) and "json" in request.headers.get("content-type", ""):
                body = await request.body()
                refuse_other_encodings(body)
                if takes_no_body:
                    refuse_fields(body)
            return await answer(request)

        return checked

    def get_answer(self) -> Handler:
        """What answers a request that the guard let in."""
        return super().get_route_handler()


class RawRoute(GuardedRoute):
    """A guarded and documented route of a fixed path whose endpoint takes the request as it came, for the hottest doors.

    `Application` finds it by one look in a table. Routing, dependencies and exit stacks of the framework cost a request
    150 us of CPU, half as much again as a bare endpoint with its query (docs, performance).
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **arguments: Any) -> None:
        super().__init__(path, endpoint, **arguments)
        if self.param_convertors:
            raise TypeError(f"{path}: a raw route has a fixed path")
        self.answer = self.get_route_handler()

    def get_answer(self) -> Handler:
        endpoint: Handler = self.endpoint
        return endpoint


def guarded_router(**arguments: Any) -> APIRouter:
    """A router whose endpoints must say who may call them."""
    return APIRouter(route_class=GuardedRoute, **arguments)


async def admit(request: Request, guard: Guard) -> Caller:
    """The caller, when the guard lets them in; raises the problem that the contract orders first."""
    context: HttpContext = request.app.state.http
    if guard.service_key:
        offered = bearer_token(_authorization_of(request)) or ""
        return admit_service(request, offered, context.service_keys)
    if guard.ignores_token:
        return ANONYMOUS
    token = bearer_token(_authorization_of(request))
    if token is None:
        if guard.anonymous:
            return ANONYMOUS
        raise Unauthorized
    caller = await context.verifier.caller_of(token)
    if guard.permission is not None:
        caller.must_be_allowed(guard.permission)
    if guard.one_of:
        caller.must_be_allowed_one_of(*guard.one_of)
    if guard.step_up:
        caller.must_have_stepped_up(context.clock.now())
    return caller


def _authorization_of(request: Request) -> str | None:
    """The one Authorization header: of two, whoever stands before or behind us might have read the other."""
    offered = request.headers.getlist("authorization")
    if len(offered) > 1:
        raise Unauthorized
    return offered[0] if offered else None


# Dependencies here are `async` though they wait for nothing: FastAPI sends a plain function to a thread, which costs more than a
# whole request.
async def caller_of(request: Request) -> Caller:
    """The caller that the guard admitted."""
    caller: Caller = request.state.caller
    return caller


def dependencies_of(request: Request) -> Any:
    """The service's frozen `Dependencies`, put there by its composition root."""
    return request.app.state.dependencies


CurrentCaller = Annotated[Caller, Depends(caller_of)]


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not hold the character U+0000")
    return text


# A text from the query string: PostgreSQL cannot hold U+0000.
QueryText = Annotated[str, AfterValidator(_without_nul)]
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX), IN_DIGITS]
Cursor = Annotated[QueryText | None, Query(max_length=512)]


@dataclass(frozen=True, slots=True)
class OffsetPage:
    """One page of an offset list: `page` from 1; `order_by` is a column of the list's allow-list."""

    page: int
    limit: int
    sort: str
    descending: bool

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    def meta(self, total: int) -> dict[str, Any]:
        """The pagination fields of `meta` for a list of `total` items."""
        return {"page": self.page, "limit": self.limit, "total": total, "total_pages": -(-total // self.limit)}


def offset_page(*sorts: str) -> Callable[..., Coroutine[Any, Any, OffsetPage]]:
    """The dependency of an offset list that may be sorted by these fields; the first is the default, newest first."""

    async def page_of(
        page: Annotated[int, Query(ge=1, le=OFFSET_MAX), IN_DIGITS] = 1,
        limit: Limit = LIMIT_DEFAULT,
        sort: Annotated[str, Query(max_length=40)] = sorts[0],
        order: Annotated[str, Query(pattern="^(asc|desc)$")] = "desc",
    ) -> OffsetPage:
        if sort not in sorts:
            raise ValidationFailed.of("sort", f"must be one of: {', '.join(sorts)}")
        if page * limit > OFFSET_MAX:
            raise ValidationFailed.of("page", f"page x limit must not exceed {OFFSET_MAX}; narrow the filters instead")
        return OffsetPage(page, limit, sort, order == "desc")

    return page_of


def ok(
    request: Request, payload: Any, *, status: int = 200, headers: dict[str, str] | None = None, **meta: Any
) -> Response:
    """The success envelope as a ready response; `meta` takes pagination fields."""
    context: HttpContext = request.app.state.http
    body = envelope.render(payload, request_id=request.state.request_id, now=context.clock.now(), **meta)
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def create_app(*, title: str, routers: Sequence[APIRouter], context: HttpContext, dependencies: Any) -> FastAPI:
    """The application of a service, to be served inside `RequestScope`."""
    app = Application(
        title=title,
        version=envelope.API_VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False},
        exception_handlers={**ANSWERS, Exception: answer_bug},
    )
    app.raw_routes = {
        (method, route.path): route
        for router in routers
        for route in router.routes
        if isinstance(route, RawRoute)
        for method in route.methods or ()
    }
    app.state.http = context
    app.state.dependencies = dependencies
    for router in routers:
        app.include_router(router)
    return app


class Application(FastAPI):
    """FastAPI, with a short way to the raw routes: the same guards, the same answers to errors."""

    raw_routes: Mapping[tuple[str, str], RawRoute] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self.raw_routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"], scope["route"] = self, route
        request = Request(scope, receive, send)
        try:
            response = await self._answer_raw(route, request)
        except Exception as error:
            await (await answer_bug(request, error))(scope, receive, send)
            raise
        await response(scope, receive, send)

    async def _answer_raw(self, route: RawRoute, request: Request) -> Response:
        try:
            return await route.answer(request)
        except tuple(ANSWERS) as error:
            answer = next(ANSWERS[kind] for kind in type(error).__mro__ if kind in ANSWERS)
            return await answer(request, error)


class RequestScope:
    """Outermost layer: request id, span, metrics, and 500 as a problem document for whatever is a bug."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._records_spans = telemetry.is_recording()
        self._seconds: dict[tuple[str, str, int], Any] = {}
        self._in_flight = 0
        self._is_leaving = False
        telemetry.REQUESTS_IN_FLIGHT.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        carried = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in _CARRIED
        }
        offered = carried.get("x-request-id", "")
        request_id = offered if is_request_id(offered) else new_request_id()
        scope.setdefault("state", {})["request_id"] = request_id
        REQUEST_ID.set(request_id)
        began, status = time.perf_counter(), 500
        self._in_flight += 1

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
                if self._is_leaving:
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        try:
            # Without a span to record, its machinery alone costs 15 us.
            if self._records_spans and scope["path"] not in telemetry.UNTRACED_PATHS:
                with telemetry.span(scope["method"], SpanKind.SERVER, carried):
                    try:
                        await self._run(scope, receive, send_with_id)
                    finally:
                        telemetry.tell_answer(scope["method"], _route_of(scope), status)
            else:
                telemetry.carry(carried.get("traceparent"))
                await self._run(scope, receive, send_with_id)
        finally:
            self._in_flight -= 1
            self._measured(scope["method"], _route_of(scope), status).observe(time.perf_counter() - began)

    def leave(self) -> None:
        """Every answer from now on is the last one of its connection: whoever keeps connections opens none to us again."""
        self._is_leaving = True

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            # It was answered with `answer_bug`, and is raised again for its server to log.
            log.error("unhandled exception", path=scope["path"], exc_info=error)

    def _measured(self, method: str, route: str, status: int) -> Any:
        """The histogram of these labels, kept: finding it costs more than counting."""
        known = self._seconds.get((method, route, status))
        if known is None:
            known = self._seconds[method, route, status] = telemetry.REQUEST_SECONDS.labels(method, route, status)
        return known


def _route_of(scope: Scope) -> str:
    route: str = getattr(scope.get("route"), "path", "unknown")
    return route


_CARRIED: Final = frozenset({b"traceparent", b"tracestate", b"x-request-id"})
