"""The declaration of an endpoint, from which route, guard, OpenAPI operation and the edge's rules follow
(decision 104).

endpoint = Endpoints("payouts")

@endpoint(
    "GET", "/api/payouts/{payout_id}", id="payouts.get", returns=Payout, allow=one_of("wallet:own", "payouts:read")
)
async def get_payout(request: Request, caller: CurrentCaller, payout_id: UUID) -> Response: ...
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import cached_property
from typing import Any, Final, TypeVar, Unpack

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match
from starlette.types import Scope

from common.auth.caller import ANONYMOUS, Caller
from common.auth.guards import Access, Guard
from common.auth.service_keys import admit_service
from common.auth.tokens import bearer_token
from common.primitives.problems import NotFound, SecondFactorRequired, Unauthorized
from common.web.endpoint_table import EdgeRules, Idempotency, Media, Quota, Route, template_of
from common.web.http_context import context_of
from common.web.strict_requests import (
    ONE_ORDER_SHOWN,
    THE_SORT,
    names_in_query,
    refuse_fields,
    refuse_null,
    refuse_other_encodings,
    refuse_other_orders,
    refuse_unknown_parameters,
)
from common.web.uploads import FILE_SHOWN, FRAME_BYTES_MAX, IMAGE_BYTES_MAX

HandlerT = TypeVar("HandlerT", bound=Callable[..., Awaitable[Response]])
Respond = Callable[[Request], Coroutine[Any, Any, Response]]
Responses = Mapping[int | str, Mapping[str, object]]
API_PREFIX: Final = "/api/"
# The callers of an operation that is not for users: our own services, or the programs of a protocol, such as webhooks
# of providers, redirected browsers and probes. Read from the document by both clients.
AUDIENCE: Final = "x-audience"


class Endpoints:
    """The endpoints of one subject, in the order of their declaration. An instance is the decorator that declares
    one.
    """

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self.routes: list[EndpointRoute] = []

    def __call__(  # noqa: PLR0913 - a declaration: every argument but two has a name and a default
        self,
        method: str,
        path: str,
        *,
        allow: Guard,
        id: str | None = None,  # noqa: A002 - the operationId
        returns: object = None,
        status: int = 200,
        errors: tuple[int, ...] = (),
        raw: bool = False,
        any_query: bool = False,
        merged: bool = False,
        documented: bool = True,
        for_clients: bool = True,
        content: str | None = None,
        responses: Responses | None = None,
        response_class: type[Response] = JSONResponse,
        openapi_extra: dict[str, object] | None = None,
        **edge: Unpack[EdgeRules],
    ) -> Callable[[HandlerT], HandlerT]:
        """Declare an endpoint. `returns` is the model of a success, or a list of it; `content` the media type of a
        file.

        `errors`: statuses beyond those that guard, path, parameters and body imply and that the code raises by name.
        `raw`: the handler gets the request alone, of a fixed path, past FastAPI's routing and dependencies, which cost
        150 us of CPU. `any_query`: a provider may add parameters to the address of its webhook. `merged`: several
        services declare this endpoint, and the edge merges their parts. `responses` adds to the documented responses.
        `for_clients`: the generated clients have this operation, unless a signature or the service key opens it.
        """
        accepts_key = method == "POST" and allow.access is Access.TOKEN
        edge.setdefault("idempotency", Idempotency.ACCEPTED if accepts_key else Idempotency.IGNORED)
        if allow.access is Access.SIGNATURE:
            edge.setdefault("media", Media.ANY)
        if allow.access in (Access.SIGNATURE, Access.SERVICE_KEY):
            edge.setdefault("quota", Quota.MACHINES)
        if edge.get("media") is Media.IMAGE:
            edge.setdefault("body_bytes_max", IMAGE_BYTES_MAX + FRAME_BYTES_MAX)
            openapi_extra = FILE_SHOWN
        if allow.access is Access.SERVICE_KEY:
            openapi_extra = (openapi_extra or {}) | {AUDIENCE: "service"}
        elif allow.access is Access.SIGNATURE or not for_clients:
            openapi_extra = (openapi_extra or {}) | {AUDIENCE: "protocol"}
        declared = Route(method, template_of(path), "", guard=allow, **edge)
        shown: dict[int | str, dict[str, object]] = {number: {"description": "An error."} for number in errors}
        shown[status] = {"description": "Done."} if returns is None else {"model": returns}
        if content is not None:
            shown[status]["content"] = {content: {"schema": {"type": "string"}}}
            response_class = Response
        for number, further in (responses or {}).items():
            shown[number] = shown.get(number, {}) | dict(further)

        def declare(handler: HandlerT) -> HandlerT:
            route = EndpointRoute(
                path,
                handler,
                declared=declared,
                is_raw=raw,
                accepts_any_query=any_query,
                is_merged=merged,
                methods=[method],
                operation_id=id,
                tags=[self._tag],
                status_code=status,
                responses=shown,
                response_class=response_class,
                openapi_extra=openapi_extra,
                include_in_schema=documented,
            )
            self.routes.append(route)
            return handler

        return declare


class EndpointRoute(APIRoute):
    """The route of a declared endpoint. `declared` has its guard and the edge's rules, without the service."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Awaitable[Response]],
        *,
        declared: Route,
        is_raw: bool,
        accepts_any_query: bool,
        is_merged: bool,
        responses: dict[int | str, dict[str, object]],
        **arguments: Any,
    ) -> None:
        self.declared, self.is_raw, self.is_merged = declared, is_raw, is_merged
        self._accepts_any_query = accepts_any_query
        self.respond: Respond
        super().__init__(path, endpoint, **arguments)
        # FastAPI would build a pydantic model of each response, which OpenAPI alone reads: 3 MiB of each process.
        self.responses = responses
        del self.response_fields
        if is_raw and self.param_convertors:
            raise TypeError(f"{path}: a raw endpoint has a fixed path")
        if ":path}" in path:
            raise TypeError(f"{path}: a parameter is one segment")
        self._start, self._end, self._slashes = path.partition("{")[0], path.rpartition("}")[2], path.count("/")
        if self.has_one_order:
            shown = dict(self.openapi_extra or {})
            self.openapi_extra = {**shown, "parameters": [*shown.get("parameters", ()), ONE_ORDER_SHOWN]}

    @cached_property
    def response_fields(self) -> dict[int | str, Any]:  # type: ignore[override]
        """The models of the responses, as FastAPI builds them; read by the OpenAPI document."""
        shown = APIRoute(self.path, self.endpoint, responses=self.responses, operation_id=self.operation_id)
        return shown.response_fields

    @property
    def has_one_order(self) -> bool:
        """Return whether this is a list without a declared sort, which has exactly one order (contract section 1.5)."""
        declared = names_in_query(self.dependant)
        return "limit" in declared and "sort" not in declared

    @property
    def query_names(self) -> frozenset[str] | None:
        """The accepted query parameters; None accepts any, outside the API and for webhooks (contract section 1.4)."""
        if not self.path.startswith(API_PREFIX) or self._accepts_any_query:
            return None
        shown = (self.openapi_extra or {}).get("parameters", ())
        by_hand = {parameter["name"] for parameter in shown if parameter["in"] == "query"}
        one_order = {THE_SORT} if self.has_one_order else set()
        return frozenset(names_in_query(self.dependant) | by_hand | one_order)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Compare the path with the template. Nearly all other routes differ in the number of segments, or in the first
        or last ones, and need no regular expression: a search in the hundred routes of orders takes half of the time.
        """
        path = scope["path"]
        if path.count("/") != self._slashes or not (path.startswith(self._start) and path.endswith(self._end)):
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Respond:
        respond: Respond = self.endpoint if self.is_raw else super().get_route_handler()
        guard = self.declared.guard
        has_one_order, query_names = self.has_one_order, self.query_names
        # A signed request needs the raw body. A form is documented by hand and parsed by its endpoint.
        documents_body = "requestBody" in (self.openapi_extra or {})
        has_no_body = (
            self.body_field is None
            and not documents_body
            and not guard.anonymous
            and self.declared.method not in ("GET", "DELETE")
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
                refuse_null(body)
                if has_no_body:
                    refuse_fields(body)
            try:
                return await respond(request)
            except NotFound as error:
                # The row may exist for this person with a second factor; whether it does is not shown.
                if request.path_params and guard.hides_rows_of(caller):
                    raise SecondFactorRequired from error
                raise

        self.respond = checked
        return checked


async def admit(request: Request, guard: Guard) -> Caller:
    """Return the caller that the guard admits. Raises the problem that the contract ranks first."""
    access = guard.access
    if access is Access.CREDENTIALS or access is Access.SIGNATURE:
        return ANONYMOUS
    context = context_of(request)
    token = bearer_token(_authorization_of(request))
    if access is Access.SERVICE_KEY:
        return admit_service(request, token or "", context.service_keys)
    if token is None:
        if access is Access.TOKEN:
            raise Unauthorized
        return ANONYMOUS
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
