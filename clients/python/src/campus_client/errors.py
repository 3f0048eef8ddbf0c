"""The errors of the client. All are `CampusError`; an error of the API has a class for each code."""

from typing import Any, Final
from uuid import UUID

import httpx


class CampusError(Exception):
    """An error of the client or of the API.

    `idempotency_key` is the key to repeat the call with, None if it had none: an earlier attempt may have taken effect.
    """

    idempotency_key: UUID | None = None


class TransportError(CampusError):
    """No response: the network, DNS or TLS failed, or the connection was lost. The request may have taken effect."""


class RequestTimeoutError(TransportError):
    """No response within the time-out."""


class InvalidResponseError(CampusError):
    """A successful response without the documented content, for instance from a proxy between client and gateway."""


class UploadError(CampusError):
    """The file is not an image that the API accepts. Nothing was sent."""


class WebhookVerificationError(CampusError):
    """The signature, the time or the form of a webhook is wrong. Answer it with 400 and ignore its content."""


class ApiError(CampusError):
    """The API rejected the request. Attributes are the fields of the problem document (RFC 9457)."""

    def __init__(self, status: int, problem: dict[str, Any], headers: httpx.Headers) -> None:
        self.status = status
        self.problem = problem
        self.headers = headers
        self.code = str(problem.get("code", ""))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.invalid_params: list[dict[str, Any]] = list(problem.get("invalid_params") or [])
        self.request_id = str(problem.get("requestId") or headers.get("X-Request-Id", ""))
        self.attempts_remaining: int | None = problem.get("attemptsRemaining")
        """After a wrong delivery PIN: the number of further attempts."""
        self.retry_after_seconds = seconds_of(headers.get("Retry-After"))
        super().__init__(f"{status} {self.code} {self.detail or self.title}".strip())


class AuthUnauthorizedError(ApiError):
    """`AUTH_UNAUTHORIZED`: no valid session."""


class AuthTokenExpiredError(ApiError):
    """`AUTH_TOKEN_EXPIRED`: the access token expired, and there is no refresh token."""


class AuthForbiddenError(ApiError):
    """`AUTH_FORBIDDEN`: the role does not permit the operation."""


class AuthAal2RequiredError(ApiError):
    """`AUTH_AAL2_REQUIRED`: the operation needs a second factor (`step_up`)."""


class ValidationFailedError(ApiError):
    """`VALIDATION_FAILED`: `invalid_params` names the fields."""


class ResourceNotFoundError(ApiError):
    """`RESOURCE_NOT_FOUND`: no such path or id, or the caller may not see it."""


class ConcurrencyConflictError(ApiError):
    """`CONCURRENCY_CONFLICT`: the state or the revision is another one by now."""


class EscrowLockedError(ApiError):
    """`ESCROW_LOCKED`: the escrow of the order is locked."""


class EscrowBalanceDeficitError(ApiError):
    """`ESCROW_BALANCE_DEFICIT`: the balance does not cover the amount."""


class DeliveryPinInvalidError(ApiError):
    """`DELIVERY_PIN_INVALID`: the delivery PIN is wrong; see `attempts_remaining`."""


class RateLimitExceededError(ApiError):
    """`RATE_LIMIT_EXCEEDED`: too many requests; see `retry_after_seconds`."""


class InternalError(ApiError):
    """`INTERNAL_ERROR`: the request failed on the server; `request_id` identifies it in the server's logs."""


BY_CODE: Final[dict[str, type[ApiError]]] = {
    "AUTH_UNAUTHORIZED": AuthUnauthorizedError,
    "AUTH_TOKEN_EXPIRED": AuthTokenExpiredError,
    "AUTH_FORBIDDEN": AuthForbiddenError,
    "AUTH_AAL2_REQUIRED": AuthAal2RequiredError,
    "VALIDATION_FAILED": ValidationFailedError,
    "RESOURCE_NOT_FOUND": ResourceNotFoundError,
    "CONCURRENCY_CONFLICT": ConcurrencyConflictError,
    "ESCROW_LOCKED": EscrowLockedError,
    "ESCROW_BALANCE_DEFICIT": EscrowBalanceDeficitError,
    "DELIVERY_PIN_INVALID": DeliveryPinInvalidError,
    "RATE_LIMIT_EXCEEDED": RateLimitExceededError,
    "INTERNAL_ERROR": InternalError,
}
# Enough of a foreign error page to recognise it.
_EXCERPT_CHARACTERS: Final = 300


def api_error(response: httpx.Response) -> ApiError:
    """Return the error of an unsuccessful response, whose body was read."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"title": response.reason_phrase, "detail": response.text[:_EXCERPT_CHARACTERS]}
    return BY_CODE.get(str(problem.get("code")), ApiError)(response.status_code, problem, response.headers)


def seconds_of(retry_after: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header; the API sends no dates."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else None
