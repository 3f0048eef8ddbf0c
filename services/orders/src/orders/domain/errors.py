"""The refusals of this service, named by their condition (contract sections 2, 3 and 6)."""

from collections.abc import Sequence
from typing import Any

from common.problems import Conflict, InvalidParam, Problem, RateLimited, ValidationFailed

# A locked PIN opens only when the buyer has it reissued: the answer asks for the time that this takes, not for a hot loop.
LOCKED_PIN_RETRY_AFTER_SECONDS = 60


class UnknownProduct(ValidationFailed):
    detail = "A product of this checkout does not exist, or is no longer sold."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[
                InvalidParam(f"items.{position}.productId", "there is no such product") for position in positions
            ]
        )


class SeveralVendors(ValidationFailed):
    detail = "One order has one vendor: check out the products of each vendor by themselves."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("items", "the products belong to several vendors")])


class RepeatedProduct(ValidationFailed):
    detail = "Each product stands in a checkout once, with its quantity."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("items", "a product stands in the list twice")])


class UnknownHub(ValidationFailed):
    detail = "There is no such hub to deliver to."

    def __init__(self, reason: str = "there is no such hub") -> None:
        super().__init__(invalid_params=[InvalidParam("hubId", reason)])


class UnknownCampus(ValidationFailed):
    detail = "There is no such campus to deliver to."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("campusId", "there is no such campus")])


class VendorSuspended(Conflict):
    """Staff have suspended the vendor: no new checkout; open orders finish (contract section 10)."""

    detail = "This vendor is suspended and takes no new orders for the moment. Nothing was ordered."


class VendorSuspended(Conflict):
    """Staff have suspended the vendor: no new checkout; open orders finish (contract section 10)."""

    detail = "This vendor is suspended and takes no new orders for the moment. Nothing was ordered."


class OutOfStock(Conflict):
    detail = "There is not enough left of a product of this checkout. Nothing was ordered."

    def __init__(self, positions: Sequence[int] = ()) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{position}.quantity", "more than is left") for position in positions]
        )


class PriceMoved(Conflict):
    """The total is not the one that the buyer saw. Nothing was ordered."""

    detail = "The total has changed since you saw it. Look at it again before you order."

    def __init__(self, total_minor: int | None = None) -> None:
        extensions: dict[str, Any] = {} if total_minor is None else {"totalMinor": total_minor}
        super().__init__(extensions=extensions)


class IdempotencyKeyReused(ValidationFailed):
    """The key is bound to another request of this caller for good (contract section 3)."""

    detail = "This Idempotency-Key belongs to another request of yours. Use a fresh one."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("Idempotency-Key", "was used for a request with other content")])


class ForbiddenMove(Conflict):
    """A command that the order's state does not allow."""

    def __init__(self, status: str) -> None:
        super().__init__(f"The order is {status}, which does not allow this.")


class DeliveryPinInvalid(Problem):
    """A wrong PIN; the try is counted although the answer is an error."""

    status, code, detail = 400, "DELIVERY_PIN_INVALID", "This is not the order's delivery PIN."

    def __init__(self, attempts_remaining: int) -> None:
        super().__init__(extensions={"attemptsRemaining": attempts_remaining})


class DeliveryPinLocked(RateLimited):
    """Five wrong tries, whoever made them: only a reissue by the buyer opens the order's PIN again."""

    detail = "Too many wrong tries. The buyer must have the delivery PIN reissued."

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(LOCKED_PIN_RETRY_AFTER_SECONDS)})


class ReissuesUsedUp(Conflict):
    detail = "The delivery PIN of this order was reissued as often as it can be."


class NotOfThisOrder(ValidationFailed):
    detail = "This order gives no right to this review."

    def __init__(self, reason: str) -> None:
        super().__init__(invalid_params=[InvalidParam("orderId", reason)])


class ReviewedBefore(Conflict):
    detail = "You have reviewed this for this order already."
