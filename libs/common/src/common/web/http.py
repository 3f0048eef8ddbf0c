"""The HTTP application of a service: every error is a problem document, and every endpoint declares its guard."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, TypeVar

from fastapi import Depends, FastAPI, Query
from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from common.auth.caller import Caller
from common.primitives.problems import NotFound
from common.web import envelope
from common.web.endpoints import EndpointRoute, Endpoints
from common.web.exception_handlers import EXCEPTION_HANDLERS, respond_internal_error
from common.web.http_context import HttpContext, context_of
from common.web.responses import Meta, Payload
from common.web.schemas import IN_DIGITS

DependenciesT = TypeVar("DependenciesT")
Resource = TypeVar("Resource")
LIMIT_DEFAULT: Final = 20
LIMIT_MAX: Final = 100


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


def or_not_found(resource: Resource | None) -> Resource:
    """Return the resource; raises NotFound for None."""
    if resource is None:
        raise NotFound
    return resource


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
    request: Request,
    payload: Payload,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    meta: type[Meta] = Meta,
    **fields: object,
) -> Response:
    """Return the success envelope as a ready response; `fields` are those that `meta` adds to its base."""
    context = context_of(request)
    body = envelope.render(payload, request_id=request.state.request_id, now=context.clock.now(), meta=meta, **fields)
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def create_app(*, title: str, endpoints: Sequence[Endpoints], context: HttpContext, dependencies: object) -> FastAPI:
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
        (route.declared.method, route.path): route for each in endpoints for route in each.routes if route.is_raw
    }
    app.state.http = context
    app.state.dependencies = dependencies
    app.router.routes.extend(route for each in endpoints for route in each.routes)
    return app


class Application(FastAPI):
    """FastAPI with direct dispatch to raw endpoints: the same guards and the same exception handlers."""

    raw_routes: Mapping[tuple[str, str], EndpointRoute] = {}

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

    async def _respond_raw(self, route: EndpointRoute, request: Request) -> Response:
        try:
            return await route.respond(request)
        except tuple(EXCEPTION_HANDLERS) as error:
            handler = next(EXCEPTION_HANDLERS[kind] for kind in type(error).__mro__ if kind in EXCEPTION_HANDLERS)
            return await handler(request, error)
