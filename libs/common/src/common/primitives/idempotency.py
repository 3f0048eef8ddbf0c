"""The error of an idempotency key that belongs to another request."""

from common.primitives.problems import InvalidParam, ValidationFailed


class IdempotencyKeyReused(ValidationFailed):
    """The key belongs to another request of this caller (contract section 3)."""

    detail = "This Idempotency-Key belongs to another request of yours. Use a new key."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("Idempotency-Key", "was used for a request with other content")])
