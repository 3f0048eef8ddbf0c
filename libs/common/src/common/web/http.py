"""The HTTP application of a service: every error is a problem document, and every endpoint declares its guard."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi.routing import APIRoute
from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from common.auth.caller import ANONYMOUS, Caller
from common.auth.guards import Guard
from common.auth.service_keys import admit_service
from common.auth.tokens import bearer_token
from common.primitives.problems import NotFound, SecondFactorRequired, Unauthorized
from common.web import envelope
from common.web.exception_handlers import EXCEPTION_HANDLERS, respond_internal_error
from common.web.http_context import HttpContext, context_of
from common.web.schemas import IN_DIGITS
from common.web.strict_requests import (
    ONE_ORDER_SHOWN,
    names_in_query,
    refuse_fields,
    refuse_other_encodings,
    refuse_other_orders,
    refuse_unknown_parameters,
)

DependenciesT = TypeVar("DependenciesT")
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
API_PREFIX: Final = "/api/"
LIMIT_DEFAULT: Final = 20
LIMIT_MAX: Final = 100


def public(endpoint: Endpoint) -> Endpoint:
    """Admits every caller; a token that is sent must be valid."""
    return _guarded(endpoint, Guard(anonymous=True))


def before_sign_in(endpoint: Endpoint) -> Endpoint:
    """Admits every caller and ignores the token: a refresh may be sent with an expired one."""
    return _guarded(endpoint, Guard(anonymous=True, ignores_token=True))


def signed_in(endpoint: Endpoint) -> Endpoint:
    """Admits every caller with a valid token; row policies limit what they read."""
    return _guarded(endpoint, Guard())


def stepped_up(endpoint: Endpoint) -> Endpoint:
    """Admits callers of every role whose second factor is at most 15 minutes old: for changes of own credentials."""
    return _guarded(endpoint, Guard(step_up=True))


def requires(permission: str, *, step_up: bool = False) -> Callable[[Endpoint], Endpoint]:
    """Require a valid token with this permission, and with `step_up` a second factor at most 15 minutes old."""
    return lambda endpoint: _guarded(endpoint, Guard(permission=permission, step_up=step_up))


def requires_one_of(
    *permissions: str, step_up: bool = False, step_up_with: str | None = None
) -> Callable[[Endpoint], Endpoint]:
    """Require a valid token with any of these permissions, for endpoints where rights differ by row or field.

    Holders of the permission `step_up_with` need AAL2.
    """
    return lambda endpoint: _guarded(endpoint, Guard(one_of=permissions, step_up=step_up, step_up_with=step_up_with))


def service_key_only(endpoint: Endpoint) -> Endpoint:
    """Return the functions: `Authorization: Bearer <SERVICE_ROLE_KEY>`, current or previous."""
    return _guarded(endpoint, Guard(service_key=True))


def any_query(endpoint: Endpoint) -> Endpoint:
    """Accept any query parameter: a provider may add its own to the address of a webhook."""
    endpoint.__any_query__ = True  # type: ignore[attr-defined]
    return endpoint


def _guarded(endpoint: Endpoint, guard: Guard) -> Endpoint:
    endpoint.__guard__ = guard  # type: ignore[attr-defined]
    return endpoint


class GuardedRoute(APIRoute):
    """A route with a guard. Raises TypeError for an endpoint without one."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **arguments: Any) -> None:
        if not isinstance(getattr(endpoint, "__guard__", None), Guard):
            raise TypeError(
                f"{endpoint.__name__} has no guard: add @public, @signed_in or @requires(...) below the route"
            )
        super().__init__(path, endpoint, **arguments)
        if self.has_one_order:
            shown = dict(self.openapi_extra or {})
            others = [parameter for parameter in shown.get("parameters", ()) if parameter != ONE_ORDER_SHOWN]
            self.openapi_extra = {**shown, "parameters": [*others, ONE_ORDER_SHOWN]}

    @property
    def has_one_order(self) -> bool:
        """Whether this is a list without a declared sort, which has exactly one order (contract section 1.5)."""
        declared = names_in_query(self.dependant)
        return "limit" in declared and "sort" not in declared

    @property
    def query_names(self) -> frozenset[str] | None:
        """The accepted query parameters; None accepts any, outside the API and for webhooks (contract section 1.4)."""
        if not self.path.startswith(API_PREFIX) or hasattr(self.endpoint, "__any_query__"):
            return None
        shown = (self.openapi_extra or {}).get("parameters", ())
        by_hand = {parameter["name"] for parameter in shown if parameter["in"] == "query"}
        one_order = {ONE_ORDER_SHOWN["name"]} if self.has_one_order else set()
        return frozenset(names_in_query(self.dependant) | by_hand | one_order)

    def get_route_handler(self) -> Handler:
        respond = self.get_responder()
        guard: Guard = self.endpoint.__guard__  # type: ignore[attr-defined]
        has_one_order, query_names = self.has_one_order, self.query_names
        # A signed request needs the raw body. A form is documented by hand and parsed by its endpoint.
        documents_body = "requestBody" in (self.openapi_extra or {})
        has_no_body = (
            self.body_field is None
            and not documents_body
            and not guard.anonymous
            and not {"GET", "DELETE"} & (self.methods or set())
        )

        reads_json = self.body_field is not None

        async def checked(request: Request) -> Response:
            request.state.caller = caller = await admit(request, guard)
            if query_names is not None and request.scope["query_string"]:
                refuse_unknown_parameters(request, query_names)
            if has_one_order:
                refuse_other_orders(request)
            if (has_no_body or reads_json) and "json" in request.headers.get("content-type", ""):
                body = await request.body()
                refuse_other_encodings(body)
                if has_no_body:
                    refuse_fields(body)
            try:
                return await respond(request)
            except NotFound as error:
                # The row may exist for this person with a second factor; whether it does is not shown.
                if request.path_params and guard.hides_rows_of(caller):
                    raise SecondFactorRequired from error
                raise

        return checked

    def get_responder(self) -> Handler:
        """Return the handler of an admitted request."""
        return super().get_route_handler()


class RawRoute(GuardedRoute):
    """A guarded and documented route with a fixed path whose endpoint receives the raw request, for hot endpoints.

    `Application` finds it by one table lookup. FastAPI's routing, dependencies and exit stacks cost a request 150 us of
    CPU, half of what a bare endpoint with its query costs (docs, performance).
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **arguments: Any) -> None:
        super().__init__(path, endpoint, **arguments)
        if self.param_convertors:
            raise TypeError(f"{path}: a raw route has a fixed path")
        self.respond = self.get_route_handler()

    def get_responder(self) -> Handler:
        endpoint: Handler = self.endpoint
        return endpoint


def guarded_router(**arguments: Any) -> APIRouter:
    """Return a router that requires a guard on every endpoint."""
    return APIRouter(route_class=GuardedRoute, **arguments)


async def admit(request: Request, guard: Guard) -> Caller:
    """Return the caller that the guard admits. Raises the problem that the contract ranks first."""
    context = context_of(request)
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
    guard.check(caller, context.clock.now())
    return caller


def _authorization_of(request: Request) -> str | None:
    """Return the only Authorization header. Raises Unauthorized for two, because another server might read the other
    one.
    """
    offered = request.headers.getlist("authorization")
    if len(offered) > 1:
        raise Unauthorized
    return offered[0] if offered else None


# Dependencies are `async` although they never wait: FastAPI runs plain functions in a thread, which costs more than a
# request.
async def caller_of(request: Request) -> Caller:
    """Return the caller that the guard admitted."""
    caller: Caller = request.state.caller
    return caller


def dependencies_of(request: Request, kind: type[DependenciesT]) -> DependenciesT:
    """Return the dependencies of the service, as its composition root created them."""
    opened: DependenciesT = request.app.state.dependencies
    return opened


CurrentCaller = Annotated[Caller, Depends(caller_of)]


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not hold the character U+0000")
    return text


# A text from the query string or the path: PostgreSQL cannot hold U+0000.
QueryText = Annotated[str, AfterValidator(_without_nul)]
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX), IN_DIGITS]
Cursor = Annotated[QueryText | None, Query(max_length=512)]


def ok(
    request: Request, payload: Any, *, status: int = 200, headers: dict[str, str] | None = None, **meta: Any
) -> Response:
    """Return the success envelope as a ready response; `meta` takes pagination fields."""
    context = context_of(request)
    body = envelope.render(payload, request_id=request.state.request_id, now=context.clock.now(), **meta)
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def create_app(*, title: str, routers: Sequence[APIRouter], context: HttpContext, dependencies: object) -> FastAPI:
    """Return the application of a service, to be served inside `RequestScope`."""
    app = Application(
        title=title,
        version=envelope.API_VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False},
        exception_handlers={**EXCEPTION_HANDLERS, Exception: respond_internal_error},
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
    # Not include_router, which builds every route a second time when the first request arrives.
    app.router.routes.extend(route for router in routers for route in router.routes)
    return app


class Application(FastAPI):
    """FastAPI with direct dispatch to raw routes: the same guards and the same exception handlers."""

    raw_routes: Mapping[tuple[str, str], RawRoute] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self.raw_routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"], scope["route"] = self, route
        request = Request(scope, receive, send)
        try:
            response = await self._respond_raw(route, request)
        except Exception as error:
            await (await respond_internal_error(request, error))(scope, receive, send)
            raise
        await response(scope, receive, send)

    async def _respond_raw(self, route: RawRoute, request: Request) -> Response:
        try:
            return await route.respond(request)
        except tuple(EXCEPTION_HANDLERS) as error:
            handler = next(EXCEPTION_HANDLERS[kind] for kind in type(error).__mro__ if kind in EXCEPTION_HANDLERS)
            return await handler(request, error)
