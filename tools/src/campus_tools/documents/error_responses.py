"""Error responses of all operations: one for each status, with an example for each code."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from api_gateway.gateway_endpoints import DOCUMENTED_BASE_URL
from api_gateway.routing import Access, Idempotency, Quota
from campus_tools.documents.described import Described
from campus_tools.documents.samples import REQUEST_ID
from common.primitives.problems import (
    EXTENSIONS,
    Conflict,
    Forbidden,
    InvalidParam,
    NotFound,
    Problem,
    RateLimited,
    StaleRevision,
    StepUpRequired,
    TokenExpired,
    Unauthorized,
    Unavailable,
    ValidationFailed,
    render,
)

# Where the system runs by default. The gateway serves the documents with its own base address in its place.
BASE_URL: Final = DOCUMENTED_BASE_URL
_ID_PATH: Final = "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"


class _WrongPin(Problem):
    status, code, detail = 400, "DELIVERY_PIN_INVALID", "The delivery PIN is wrong."


class _Locked(Problem):
    status, code, detail = 423, "ESCROW_LOCKED", "Part of the amount is still held in escrow."


class _Deficit(Problem):
    status, code, detail = 409, "ESCROW_BALANCE_DEFICIT", "More than is locked in escrow cannot be released."


_BROKEN: Final = ValidationFailed(
    "quantity: Input should be greater than or equal to 1",
    invalid_params=[InvalidParam("quantity", "Input should be greater than or equal to 1")],
)
# Status → what it means, and the problems that carry it.
_ERRORS: Final[Mapping[int, tuple[str, Mapping[str, Problem]]]] = {
    400: (
        "Wrong delivery PIN; `attemptsRemaining` tells how many tries are left.",
        {"wrongPin": _WrongPin(extensions={"attemptsRemaining": 4})},
    ),
    401: (
        "No good token; one that is sent must be good even where none is needed.",
        {"missing": Unauthorized(), "expired": TokenExpired()},
    ),
    403: (
        "The role does not permit this, or it needs a second factor shown within the last 15 minutes.",
        {"role": Forbidden(), "stepUp": StepUpRequired()},
    ),
    404: ("There is no such resource, or the caller may not see it.", {"absent": NotFound()}),
    409: (
        "The present state does not allow this, what was read is stale, or the same operation is already in progress.",
        {
            "state": Conflict(),
            "stale": StaleRevision(),
            "inProgress": Conflict("This operation is already in progress."),
            "deficit": _Deficit(invalid_params=[InvalidParam("amountMinor", "exceeds what is locked")]),
        },
    ),
    413: (
        "The body is larger than this operation accepts.",
        {"size": ValidationFailed("The body is too large.", status=413)},
    ),
    415: (
        "The body has a media type that this operation does not accept, or is compressed.",
        {"media": ValidationFailed("The body must be application/json.", status=415)},
    ),
    422: (
        "The request is not valid; `invalid_params` names the invalid parameters.",
        {
            "field": _BROKEN,
            "key": ValidationFailed.of("Idempotency-Key", "must be a UUID v4"),
        },
    ),
    423: ("The money is held in escrow, or frozen by a dispute.", {"locked": _Locked()}),
    429: (
        "The quota of the minute or the tries of a PIN are used up. Retry after the seconds in `Retry-After`.",
        {"quota": RateLimited()},
    ),
    500: ("A failure of ours; `correlationId` finds it.", {"failure": Problem()}),
    503: ("A part of the system is away. Wait for the seconds in `Retry-After`.", {"away": Unavailable()}),
}
# Their body holds credentials, so they can return 401. Other public endpoints never reveal whether a user exists.
_CREDENTIALS_IN_BODY: Final = frozenset({"/api/auth/login", "/api/auth/refresh", "/api/auth/otp/verify"})
# Operations on money that may be locked in escrow (contract sections 7 and 8).
_MAY_BE_LOCKED: Final = frozenset({"POST /api/payouts", "POST /api/orders/:id/release"})
HEADERS: Final[Mapping[str, Any]] = {
    "X-Request-Id": {
        "description": "The id of this request, as in `meta.requestId`; one of the form `req_...` may be sent along.",
        "schema": {"type": "string", "pattern": "^req_[A-Za-z0-9]{16,64}$"},
        "example": REQUEST_ID,
    },
    "API-Version": {"description": "Always `v1`.", "schema": {"type": "string", "const": "v1"}},
    "RateLimit-Limit": {"description": "Requests in 60 seconds.", "schema": {"type": "integer"}, "example": 300},
    "RateLimit-Remaining": {"description": "What is left of them.", "schema": {"type": "integer"}, "example": 299},
    "RateLimit-Reset": {
        "description": "The Unix second at which the oldest counted request leaves the window.",
        "schema": {"type": "integer"},
        "example": 1769860860,
    },
    "RateLimit-Policy": {
        "description": "The quota that is tightest: its name, requests and seconds (draft-ietf-httpapi-ratelimit-headers).",
        "schema": {"type": "string"},
        "example": '"tier-2";q=300;w=60',
    },
    "RateLimit": {
        "description": "What is left of it, and in how many seconds more will be.",
        "schema": {"type": "string"},
        "example": '"tier-2";r=299;t=60',
    },
    "Retry-After": {
        "description": "Seconds to wait before the next try.",
        "schema": {"type": "integer"},
        "example": 12,
    },
    "X-Cache-Lookup": {
        "description": "On a replay only: the answer was stored when the key was first used.",
        "schema": {"type": "string", "const": "HIT"},
    },
    "WWW-Authenticate": {
        "description": "How to identify oneself.",
        "schema": {"type": "string"},
        "example": "Bearer",
    },
}
EVERYWHERE: Final = (
    "X-Request-Id",
    "API-Version",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
)
PROBLEM_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "Problem details (RFC 7807). `type` leads to a page about the code.",
    "required": ["type", "title", "status", "detail", "instance", "code", "invalid_params", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "instance": {"type": "string", "description": "The path of the request."},
        "code": {"$ref": "#/components/schemas/ProblemCode"},
        "invalid_params": {"type": "array", "items": {"$ref": "#/components/schemas/InvalidParam"}},
        **EXTENSIONS,
    },
}
INVALID_PARAM_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["name", "reason"],
    "properties": {"name": {"type": "string"}, "reason": {"type": "string"}},
}


def headers_shown(*names: str) -> dict[str, Any]:
    """Return references to the headers of a response."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def error_responses() -> dict[str, Any]:
    """`components.responses`."""
    return {_name(status): _shown(status, *error) for status, error in _ERRORS.items()}


def errors_of(entry: Described) -> dict[str, Any]:
    """Return the errors of an operation: its service's own, and those of guard, route table and gateway."""
    declared = {int(status) for status in entry.operation.get("responses", {}) if status.isdigit()}
    statuses = sorted({status for status in declared if status >= 400 and status != 422} | set(_of_the_gateway(entry)))
    shown: dict[str, Any] = {str(status): {"$ref": f"#/components/responses/{_name(status)}"} for status in statuses}
    shown["default"] = {
        "description": "Any other error, in the same format.",
        "headers": headers_shown(*EVERYWHERE),
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    return shown


def _of_the_gateway(entry: Described) -> Iterator[int]:
    route, operation = entry.route, entry.operation
    yield from (500, 503)
    if route.access is not Access.CREDENTIALS or route.path in _CREDENTIALS_IN_BODY:
        yield 401
    if route.name in _MAY_BE_LOCKED:
        yield 423
    if route.access is Access.TOKEN and route.method != "GET":
        yield 409
    if route.access is Access.TOKEN:
        yield 403
    if ":" in route.path:
        yield 404
    if route.idempotency is not Idempotency.IGNORED:
        yield 409
    if route.method != "GET" and "requestBody" in operation:
        yield from (413, 415, 422)
    if operation.get("parameters") or route.idempotency is not Idempotency.IGNORED:
        yield 422
    if route.quota is not Quota.UNCOUNTED:
        yield 429


def _shown(status: int, meaning: str, problems: Mapping[str, Problem]) -> dict[str, Any]:
    names = [*EVERYWHERE]
    if status in (429, 503):
        names.append("Retry-After")
    if status == 401:
        names.append("WWW-Authenticate")
    examples = {name: {"value": _document(problem)} for name, problem in problems.items()}
    return {
        "description": meaning,
        "headers": headers_shown(*names),
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
        },
    }


def _document(problem: Problem) -> Any:
    return msgspec.json.decode(render(problem, instance=_ID_PATH, request_id=REQUEST_ID, base_url=BASE_URL))


def _name(status: int) -> str:
    return f"Refused{status}"
