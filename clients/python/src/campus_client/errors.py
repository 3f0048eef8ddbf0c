"""One error for each code. Generated from openapi.json by `make documents`; do not edit."""

from typing import Final

from campus_client.refused import Refused


class AuthUnauthorized(Refused):
    """The gateway said `AUTH_UNAUTHORIZED`."""


class AuthTokenExpired(Refused):
    """The gateway said `AUTH_TOKEN_EXPIRED`."""


class AuthForbidden(Refused):
    """The gateway said `AUTH_FORBIDDEN`."""


class AuthAal2Required(Refused):
    """The gateway said `AUTH_AAL2_REQUIRED`."""


class ValidationFailed(Refused):
    """The gateway said `VALIDATION_FAILED`."""


class ResourceNotFound(Refused):
    """The gateway said `RESOURCE_NOT_FOUND`."""


class ConcurrencyConflict(Refused):
    """The gateway said `CONCURRENCY_CONFLICT`."""


class EscrowLocked(Refused):
    """The gateway said `ESCROW_LOCKED`."""


class EscrowBalanceDeficit(Refused):
    """The gateway said `ESCROW_BALANCE_DEFICIT`."""


class DeliveryPinInvalid(Refused):
    """The gateway said `DELIVERY_PIN_INVALID`."""


class RateLimitExceeded(Refused):
    """The gateway said `RATE_LIMIT_EXCEEDED`."""


class InternalError(Refused):
    """The gateway said `INTERNAL_ERROR`."""


BY_CODE: Final[dict[str, type[Refused]]] = {
    "AUTH_UNAUTHORIZED": AuthUnauthorized,
    "AUTH_TOKEN_EXPIRED": AuthTokenExpired,
    "AUTH_FORBIDDEN": AuthForbidden,
    "AUTH_AAL2_REQUIRED": AuthAal2Required,
    "VALIDATION_FAILED": ValidationFailed,
    "RESOURCE_NOT_FOUND": ResourceNotFound,
    "CONCURRENCY_CONFLICT": ConcurrencyConflict,
    "ESCROW_LOCKED": EscrowLocked,
    "ESCROW_BALANCE_DEFICIT": EscrowBalanceDeficit,
    "DELIVERY_PIN_INVALID": DeliveryPinInvalid,
    "RATE_LIMIT_EXCEEDED": RateLimitExceeded,
    "INTERNAL_ERROR": InternalError,
}
