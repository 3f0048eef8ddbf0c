"""Error responses in the form of RFC 7807 (specification: Problem details; contract section 2).

An expected error is raised as a `Problem`, or as a named subclass of it in a service's `domain/errors.py`.
Any other exception is a bug and becomes 500 INTERNAL_ERROR.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, TypedDict
from uuid import UUID

import msgspec

Code = Literal[
    "AUTH_UNAUTHORIZED",
    "AUTH_TOKEN_EXPIRED",
    "AUTH_FORBIDDEN",
    "AUTH_AAL2_REQUIRED",
    "VALIDATION_FAILED",
    "RESOURCE_NOT_FOUND",
    "CONCURRENCY_CONFLICT",
    "ESCROW_LOCKED",
    "ESCROW_BALANCE_DEFICIT",
    "DELIVERY_PIN_INVALID",
    "RATE_LIMIT_EXCEEDED",
    "INTERNAL_ERROR",
]

TITLES: Mapping[Code, str] = {
    "AUTH_UNAUTHORIZED": "Authentication required",
    "AUTH_TOKEN_EXPIRED": "Token expired",
    "AUTH_FORBIDDEN": "Not permitted",
    "AUTH_AAL2_REQUIRED": "Step-up authentication required",
    "VALIDATION_FAILED": "Validation failed",
    "RESOURCE_NOT_FOUND": "Not found",
    "CONCURRENCY_CONFLICT": "Conflict with the present state",
    "ESCROW_LOCKED": "Funds are locked in escrow",
    "ESCROW_BALANCE_DEFICIT": "More than is held in escrow",
    "DELIVERY_PIN_INVALID": "Wrong delivery PIN",
    "RATE_LIMIT_EXCEEDED": "Too many requests",
    "INTERNAL_ERROR": "Internal error",
}


# Enough to correct a form. A body of 256 KiB can have 30,000 faults. Their list would be seven times as long as the
# body, and is stored for a day under an idempotency key.
INVALID_PARAMS_MAX: Final = 50
NAME_CHARACTERS_MAX: Final = 100


def shortened(name: str) -> str:
    """Return the name of a parameter, shortened for an error response."""
    return name if len(name) <= NAME_CHARACTERS_MAX else f"{name[:NAME_CHARACTERS_MAX]}..."


class ProblemExtensions(TypedDict, total=False):
    """The additional members of a problem document, each declared in EXTENSIONS."""

    totalMinor: int
    attemptsRemaining: int
    confirmationRequired: bool
    userId: UUID
    error: str
    cell: str
    batchId: UUID


# Every extension member by its JSON Schema, as the API's document shows it.
EXTENSIONS: Final[Mapping[str, Mapping[str, object]]] = {
    "requestId": {"type": "string", "description": "The request's id, as in `X-Request-Id`."},
    "correlationId": {
        "type": "string",
        "description": "With a status of 500 and above only: finds the failure in our logs.",
    },
    "totalMinor": {
        "type": "integer",
        "description": (
            "With a checkout's 409 only: the order's present total in kobo, where it is not `expectedTotalMinor`."
        ),
    },
    "attemptsRemaining": {
        "type": "integer",
        "minimum": 0,
        "description": "With DELIVERY_PIN_INVALID only: the tries that are left before the PIN is locked.",
    },
    "confirmationRequired": {
        "type": "boolean",
        "description": "With the 403 of a sign-in only: the mail address is not proven yet, and a code was sent to it.",
    },
    "userId": {
        "type": "string",
        "format": "uuid",
        "description": "With AUTH_FORBIDDEN for a token of a further issuer only: the id to call `create-user` with.",
    },
    "batchId": {
        "type": "string",
        "format": "uuid",
        "description": "With the 409 of a payout run only: the preview that shows the present list.",
    },
    "cell": {"type": "string", "description": "With a 421 only: the name of the cell that serves the campus."},
    "error": {"type": "string", "description": "With the 401 of the messaging webhook only: the same in one word."},
}


class InvalidParam(msgspec.Struct, frozen=True):
    """One offending parameter: its public name and what is wrong with it."""

    name: str
    reason: str


class Problem(Exception):
    """An error with a public status and code. Subclasses set `status`, `code` and `detail`, and are named by the
    condition.
    """

    status: ClassVar[int] = 500
    code: ClassVar[Code] = "INTERNAL_ERROR"
    detail: ClassVar[str] = "The request could not be completed."

    def __init__(
        self,
        detail: str | None = None,
        *,
        status: int | None = None,
        invalid_params: Sequence[InvalidParam] = (),
        headers: Mapping[str, str] | None = None,
        extensions: ProblemExtensions | None = None,
    ) -> None:
        self.explanation = detail or type(self).detail
        self.http_status = status or type(self).status
        self.invalid_params = tuple(invalid_params)
        self.headers = dict(headers or {})
        self.extensions: dict[str, object] = {**(extensions or {})}
        super().__init__(self.explanation)


class Unauthorized(Problem):
    status, code, detail = 401, "AUTH_UNAUTHORIZED", "A valid Bearer token is required."

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": "Bearer"})


class TokenExpired(Problem):
    status, code, detail = 401, "AUTH_TOKEN_EXPIRED", "The token has expired. Refresh it and try again."

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})


class Forbidden(Problem):
    status, code, detail = 403, "AUTH_FORBIDDEN", "Your role does not permit this."


class StepUpRequired(Problem):
    status, code, detail = 403, "AUTH_AAL2_REQUIRED", "This needs a two-factor sign-in not older than 15 minutes."


class SecondFactorRequired(StepUpRequired):
    """A staff permission in a session without a second factor (contract section 5.4)."""

    detail = "Your role permits this only in a session with a second factor. Verify it, then repeat the request."


class ValidationFailed(Problem):
    status, code, detail = 422, "VALIDATION_FAILED", "The request is not valid."

    @classmethod
    def of(cls, name: str, reason: str) -> "ValidationFailed":
        """Return the error of one invalid parameter."""
        return cls(f"{name}: {reason}", invalid_params=[InvalidParam(name, reason)])


class NotFound(Problem):
    """Absent, or invisible to the caller: both get the same response (contract section 14.9)."""

    status, code, detail = 404, "RESOURCE_NOT_FOUND", "There is no such resource."


class Conflict(Problem):
    status, code, detail = 409, "CONCURRENCY_CONFLICT", "The present state does not allow this."


class StaleRevision(Conflict):
    detail = "The resource has changed since you read it. Read it again."


class RateLimited(Problem):
    status, code, detail = 429, "RATE_LIMIT_EXCEEDED", "Too many requests. Wait and try again."


class Unavailable(Problem):
    """A dependency of this response is unavailable."""

    status, code, detail = 503, "INTERNAL_ERROR", "The service is temporarily unavailable. Try again."

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail, headers={"Retry-After": str(retry_after_seconds)})


def slug_of(code: Code) -> str:
    """Return the kebab-case slug of a code, used in `type`."""
    return code.lower().replace("_", "-")


def render(problem: Problem, *, instance: str, request_id: str, base_url: str) -> bytes:
    """Return the problem document, ready to send as `application/problem+json`."""
    code = type(problem).code
    document: dict[str, object] = {
        "type": f"{base_url}/errors/{slug_of(code)}",
        "title": TITLES[code],
        "status": problem.http_status,
        "detail": problem.explanation,
        "instance": instance,
        "code": code,
        "invalid_params": problem.invalid_params,
        "requestId": request_id,
        **problem.extensions,
    }
    if problem.http_status >= 500:
        document["correlationId"] = request_id
    return msgspec.json.encode(document)
