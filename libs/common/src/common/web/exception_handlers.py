"""The exception handlers: every error becomes a problem document (contract section 2)."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

import asyncpg
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from common.database.errors import is_unavailable
from common.observability.logging import get_logger
from common.primitives import problems
from common.primitives.problems import (
    INVALID_PARAMS_MAX,
    Forbidden,
    InvalidParam,
    NotFound,
    Problem,
    Unavailable,
    ValidationFailed,
    shortened,
)
from common.web.http_context import context_of
from common.web.request_path import client_path

log = get_logger(__name__)


def problem_response(request: Request, problem: Problem) -> Response:
    """Return the response for a problem."""
    body = problems.render(
        problem,
        instance=client_path(request),
        request_id=request.state.request_id,
        base_url=context_of(request).base_url,
    )
    return Response(body, problem.http_status, headers=problem.headers, media_type="application/problem+json")


async def _respond_problem(request: Request, error: Problem) -> Response:
    if error.http_status >= 500:
        log.error(
            "request failed",
            path=request.url.path,
            request_id=request.state.request_id,
            error=repr(error.__cause__ or error),
        )
    return problem_response(request, error)


async def _respond_invalid(request: Request, error: RequestValidationError) -> Response:
    faults = error.errors()
    if any(fault["loc"][0] == "path" for fault in faults):
        return problem_response(request, NotFound())
    params = [
        InvalidParam(name, str(fault["msg"]).removeprefix("Value error, "))
        for fault in faults[:INVALID_PARAMS_MAX]
        for name in _names_of(request, fault)
    ]
    named = ", ".join(sorted({param.name for param in params}))
    return problem_response(request, ValidationFailed(f"Not valid: {named}.", invalid_params=params))


def _names_of(request: Request, fault: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a fault: for an absent body the fields that it must have, as for an empty object."""
    if fault["type"] == "missing" and len(fault["loc"]) == 1:
        field = getattr(request.scope.get("route"), "body_field", None)
        model = field.field_info.annotation if field is not None else None
        if isinstance(model, type) and issubclass(model, BaseModel):
            required = [info.alias or name for name, info in model.model_fields.items() if info.is_required()]
            if required:
                return required
    return [_name_of(fault["loc"])]


def _name_of(location: Sequence[Any]) -> str:
    """`amountMinor`, or `items.0.quantity`; the whole body is `body`."""
    inner = [str(part) for part in location[1:]]
    name = (
        ".".join(inner)
        if inner and not (location[0] == "body" and inner[0].isdigit() and len(inner) == 1)
        else str(location[0])
    )
    return shortened(name)


async def _respond_http_exception(request: Request, error: HTTPException) -> Response:
    if error.status_code == 404:
        return problem_response(request, NotFound())
    if error.status_code == 403:
        return problem_response(request, Forbidden())
    details = {
        405: "This path does not support this method.",
        413: "The body is too large.",
        415: "The media type is not accepted.",
    }
    if error.status_code not in details:
        # The framework could not parse the body: not UTF-8, or numbers or brackets without end.
        return problem_response(request, ValidationFailed.of("body", "cannot be read"))
    return problem_response(
        request,
        ValidationFailed(details[error.status_code], status=error.status_code, headers=dict(error.headers or {})),
    )


def problem_of(error: Exception) -> Problem | None:
    """Return the problem of an error: a serialization failure or a deadlock is 409, an unavailable database and a wait
    on another server that reached its limit are 503 (contract section 13). None for a bug, which is 500.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, asyncpg.SerializationError | asyncpg.DeadlockDetectedError):
        return problems.Conflict("A concurrent request changed this resource. Try again.")
    if isinstance(error, TimeoutError) or is_unavailable(error):
        unavailable = Unavailable()
        unavailable.__cause__ = error
        return unavailable
    return None


async def _respond_server_error(request: Request, error: Exception) -> Response:
    if (problem := problem_of(error)) is None:
        raise error
    return await _respond_problem(request, problem)


async def respond_internal_error(request: Request, error: Exception) -> Response:
    """Return the response to a bug: it contains the correlation id and no details."""
    return problem_response(request, Problem())


EXCEPTION_HANDLERS: Final[Mapping[Any, Callable[[Request, Any], Coroutine[Any, Any, Response]]]] = {
    Problem: _respond_problem,
    RequestValidationError: _respond_invalid,
    HTTPException: _respond_http_exception,
    asyncpg.PostgresError: _respond_server_error,
    asyncpg.InterfaceError: _respond_server_error,
    TimeoutError: _respond_server_error,
}
