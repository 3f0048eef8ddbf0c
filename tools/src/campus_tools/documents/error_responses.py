"""Error responses of all operations, with the examples that are true of each operation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from pydantic.alias_generators import to_camel

from api_gateway.edge import HEAD_ERRORS
from api_gateway.frame import DOCUMENTED_BASE_URL
from campus_tools.documents.described import Described
from campus_tools.documents.samples import REQUEST_ID, SOME_ID
from campus_tools.documents.texts import COMPONENTS
from common.auth.guards import Access
from common.documents.media_types import NotAcceptable
from common.primitives.problems import (
    EXTENSIONS,
    Conflict,
    Forbidden,
    InvalidParam,
    NotFound,
    Problem,
    RateLimited,
    SecondFactorRequired,
    StepUpRequired,
    TokenExpired,
    Unauthorized,
    Unavailable,
    ValidationFailed,
    render,
)
from common.web.endpoint_table import Idempotency, Quota
from common.web.http import LIMIT_MAX
from contracts.permissions import SECOND_FACTOR_ROLES, permissions_of

# Where the system runs by default. The gateway serves the documents with its own base address in its place.
BASE_URL: Final = DOCUMENTED_BASE_URL
_ID_PATH: Final = f"/api/orders/{SOME_ID}"


# Status → its meaning.
_MEANINGS: Final[Mapping[int, str]] = {
    **COMPONENTS["statuses"],
    **{status: HEAD_ERRORS[status] for status in (414, 431)},
}
# The errors that every operation with the status shares. The other statuses have examples of their operation.
SHARED: Final[Mapping[int, Mapping[str, Problem]]] = {
    401: {"missing": Unauthorized(), "expired": TokenExpired()},
    404: {"absent": NotFound()},
    406: {"media": NotAcceptable(("application/pdf", "text/html"))},
    413: {"size": ValidationFailed("The body is too large.", status=413)},
    414: {"address": ValidationFailed(HEAD_ERRORS[414], status=414)},
    415: {"media": ValidationFailed("The body must be application/json.", status=415)},
    429: {"quota": RateLimited()},
    431: {"headers": ValidationFailed(HEAD_ERRORS[431], status=431)},
    500: {"failure": Problem()},
    503: {"unavailable": Unavailable()},
}
# Their body holds credentials, so they can return 401. Other public endpoints never reveal whether a user exists.
_CREDENTIALS_IN_BODY: Final = frozenset({"/api/auth/login", "/api/auth/refresh", "/api/auth/otp/verify"})
_OF_STAFF: Final = permissions_of(SECOND_FACTOR_ROLES)
# Operations on money that may be locked in escrow (contract sections 7 and 8).
_MAY_BE_LOCKED: Final = frozenset({"POST /api/payouts", "POST /api/orders/:id/release"})
HEADERS: Final[Mapping[str, Any]] = COMPONENTS["headers"]
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
    "description": "One invalid parameter.",
    "required": ["name", "reason"],
    "properties": {"name": {"type": "string"}, "reason": {"type": "string"}},
}


def headers_shown(*names: str) -> dict[str, Any]:
    """Return references to the headers of a response."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def errors_of(entry: Described, components: dict[str, Any]) -> dict[str, Any]:
    """Return the errors of an operation: its service's own, and those of guard, route table and gateway.

    Those that other operations have too are added to `components`.
    """
    declared = {int(status) for status in entry.operation.get("responses", {}) if status.isdigit()}
    named = _by_status(entry.errors)
    statuses = {status for status in declared if status >= 400 and status != 422} | set(named)
    if 404 in statuses and entry.guard.is_decided_by_rows:
        # Staff without a second factor do not learn whether the row is absent (contract section 5.4).
        statuses.add(403)
    shown = {
        str(status): _error(entry, status, named.get(status, {}), components)
        for status in sorted(statuses | set(_of_the_gateway(entry)))
    }
    shown["default"] = {
        "description": "Any other error, in the same format.",
        "headers": headers_shown(*EVERYWHERE),
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    return shown


def shared_error(status: int, problems: Mapping[str, Problem], components: dict[str, Any]) -> dict[str, str]:
    """Return a reference to an error with these examples, named by them where the status alone does not name it."""
    examples = "" if status in SHARED else "".join(name[0].upper() + name[1:] for name in problems)
    components[f"Error{status}{examples}"] = _shown(status, problems, _ID_PATH)
    return {"$ref": f"#/components/responses/Error{status}{examples}"}


def _error(entry: Described, status: int, named: Mapping[str, Problem], components: dict[str, Any]) -> dict[str, Any]:
    usual = {**SHARED.get(status, {}), **_usual(entry, status)}
    if not named and not (status == 422 and _is_own(usual)):
        return shared_error(status, usual, components)
    return _shown(status, {**usual, **named}, _example_path(entry.path))


def _is_own(problems: Mapping[str, Problem]) -> bool:
    """Return whether the examples name parameters of the operation."""
    unknown = problems.get("unknown")
    return "missing" in problems or (unknown is not None and not unknown.explanation.endswith("takes no parameters."))


def _usual(entry: Described, status: int) -> dict[str, Problem]:
    """Return the errors of guard and gateway that the operation can have."""
    guard = entry.guard
    found: dict[str, Problem] = {}
    if status == 403:
        if guard.permission or guard.one_of or not guard.step_up:
            found["role"] = Forbidden()
        if guard.is_decided_by_rows or guard.permission in _OF_STAFF:
            found["secondFactor"] = SecondFactorRequired()
        if guard.step_up or guard.step_up_with:
            found["stepUp"] = StepUpRequired()
    elif status == 409:
        found["state"] = Conflict()
        if entry.route.idempotency is not Idempotency.IGNORED:
            found["inProgress"] = Conflict("This operation is already in progress.")
    elif status == 422:
        found = _invalid_requests(entry)
    return found


def _invalid_requests(entry: Described) -> dict[str, Problem]:
    found: dict[str, Problem] = {}
    if entry.route.idempotency is Idempotency.REQUIRED:
        found["key"] = ValidationFailed.of("Idempotency-Key", "must be a UUID v4")
    if entry.required_fields:
        params = [InvalidParam(name, "Field required") for name in entry.required_fields]
        named = ", ".join(sorted(entry.required_fields))
        found["missing"] = ValidationFailed(f"Not valid: {named}.", invalid_params=params)
        return found
    names = sorted(each["name"] for each in entry.operation.get("parameters", ()) if each["in"] == "query")
    if "limit" in names:
        reason = f"Input should be less than or equal to {LIMIT_MAX}"
        found["limit"] = ValidationFailed("Not valid: limit.", invalid_params=[InvalidParam("limit", reason)])
    elif entry.route.path.startswith("/api/"):
        accepts = f"takes {', '.join(names)}" if names else "takes no parameters"
        found["unknown"] = ValidationFailed(
            f"Not valid: colour. This operation {accepts}.",
            invalid_params=[InvalidParam("colour", "is not a parameter of this operation")],
        )
    return found or {"invalid": ValidationFailed()}


def _by_status(errors: Sequence[type[Problem]]) -> dict[int, dict[str, Problem]]:
    found: dict[int, dict[str, Problem]] = {}
    for error in errors:
        # Some have values in place of a text: their own text is shown without.
        problem = Problem.__new__(error)
        Problem.__init__(problem)
        found.setdefault(problem.http_status, {})[to_camel(_snake(error.__name__))] = problem
    return found


def _snake(name: str) -> str:
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _example_path(path: str) -> str:
    return re.sub(r"\{[^}]*\}", SOME_ID, path.replace("{month}", "2026-01"))


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


def _shown(status: int, problems: Mapping[str, Problem], path: str) -> dict[str, Any]:
    names = [*EVERYWHERE]
    if status in (429, 503):
        names.append("Retry-After")
    if status == 401:
        names.append("WWW-Authenticate")
    examples = {name: {"value": _document(problem, path)} for name, problem in problems.items()}
    return {
        "description": _MEANINGS[status],
        "headers": headers_shown(*names),
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
        },
    }


def _document(problem: Problem, path: str) -> Any:
    return msgspec.json.decode(render(problem, instance=path, request_id=REQUEST_ID, base_url=BASE_URL))
