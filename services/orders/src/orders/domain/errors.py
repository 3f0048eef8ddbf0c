"""The refusals of this service, named by their condition (contract sections 2, 3 and 6)."""

from collections.abc import Mapping, Sequence

from common.primitives.problems import (
    Conflict,
    Forbidden,
    InvalidParam,
    Problem,
    ProblemExtensions,
    RateLimited,
    ValidationFailed,
)

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


class MultipleVendors(ValidationFailed):
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


class ErasureInProgress(Conflict):
    """The buyer, or the vendor's owner, is being erased, or was."""

    detail = "The account of one of the two is being closed, so that nothing new can be begun. Nothing was changed."


class OwnVendor(Forbidden):
    """The vendor's owner, or an account that sells for the vendor (contract section 6.3)."""

    detail = "This is your own vendor. Nobody buys from or reviews the vendor that they sell for."


class OutOfStock(Conflict):
    detail = "There is not enough left of a product of this checkout. Nothing was ordered."

    def __init__(self, positions: Sequence[int] = ()) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{position}.quantity", "more than is left") for position in positions]
        )


class PriceChanged(Conflict):
    """The total is not the one that the buyer saw. Nothing was ordered."""

    detail = "The total has changed since you saw it. Look at it again before you order."

    def __init__(self, total_minor: int | None = None) -> None:
        extensions: ProblemExtensions = {} if total_minor is None else {"totalMinor": total_minor}
        super().__init__(extensions=extensions)


class IdempotencyKeyReused(ValidationFailed):
    """The key is bound to another request of this caller for good (contract section 3)."""

    detail = "This Idempotency-Key belongs to another request of yours. Use a fresh one."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("Idempotency-Key", "was used for a request with other content")])


class ForbiddenTransition(Conflict):
    """A command that the order's state does not allow."""

    def __init__(self, status: str) -> None:
        super().__init__(f"The order is {status}, which does not allow this.")


class NoDeliveryPinYet(Conflict):
    """The PIN is made when the payment is there."""

    detail = "The order is not paid yet. Its delivery PIN is made when the payment is there."


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


class ReissueLimitReached(Conflict):
    detail = "The delivery PIN of this order was reissued as often as it can be."


class ReviewNotAllowed(ValidationFailed):
    detail = "This order gives no right to this review."

    def __init__(self, reason: str) -> None:
        super().__init__(invalid_params=[InvalidParam("orderId", reason)])


class AlreadyReviewed(Conflict):
    detail = "You have reviewed this for this order already."


class InvalidFlashSale(ValidationFailed):
    detail = "These terms make no sale."

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(invalid_params=[InvalidParam(name, reason) for name, reason in faults.items()])


class FlashSaleOverlaps(Conflict):
    detail = "There is another sale of this product in that time."


class FlashSaleNotPossible(Conflict):
    """The terms that staff proposed hold no longer when the vendor consents: the price, the stock or the time moved on."""

    detail = "The sale is no longer possible on these terms. Nothing was changed."

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(invalid_params=[InvalidParam(name, reason) for name, reason in faults.items()])


class FlashSaleSoldOut(Conflict):
    """Somebody was faster. The regular price is nobody's wish while the sale runs: nothing was ordered."""

    detail = "The flash sale is sold out. Nothing was ordered."


class FlashSaleLimitReached(Conflict):
    def __init__(self, limit: int) -> None:
        super().__init__(f"The flash sale gives each buyer at most {limit}. Nothing was ordered.")


class EmptyCart(ValidationFailed):
    detail = "There is nothing in the cart to check out."

    def __init__(self, name: str) -> None:
        super().__init__(invalid_params=[InvalidParam(name, "the cart holds nothing of it")])


class VendorRequired(ValidationFailed):
    detail = "The cart holds goods of several vendors, and one order has one vendor: say which."

    def __init__(self) -> None:
        super().__init__(
            invalid_params=[InvalidParam("vendorId", "is needed, as the cart holds several vendors' goods")]
        )


class CartFull(Conflict):
    detail = "The cart holds as many products as it can."


class VendorNotReceived(Conflict):
    """The merchant's token names a vendor whose approval has not been heard here yet."""

    detail = "Your shop is being opened and is not known here yet. Try again in a moment."


class ForeignProduct(Forbidden):
    """Everybody sees it, and another vendor sells it."""

    detail = "This product belongs to another vendor."


class ProductRemoved(Conflict):
    detail = "The product was removed. Nothing of it can be changed any more."


class TooManyImages(Conflict):
    detail = "The product has eight images already. Remove one first."


class EmailUnconfirmed(Forbidden):
    """Reviews need a proven mail address (contract section 10.1)."""

    detail = "Confirm your mail address first. Then sign in again and write the review."

    def __init__(self) -> None:
        super().__init__(extensions={"confirmationRequired": True})


class NoVendor(Forbidden):
    detail = "You do not sell here: your sign-in names no vendor."


class SplitWithoutRefund(ValidationFailed):
    detail = "A split says how much goes back to the buyer."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("refundMinor", "is required for the outcome split")])


class RefundWithoutSplit(ValidationFailed):
    detail = "Only a split says how much goes back: for the buyer it is all, for the vendor nothing."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("refundMinor", "stands with the outcome split only")])


class RefundExceedsOrder(ValidationFailed):
    detail = "A split leaves something to each."

    def __init__(self, total_minor: int) -> None:
        reason = f"must be from 1 to {total_minor - 1} kobo, below the order's total"
        super().__init__(invalid_params=[InvalidParam("refundMinor", reason)])


class ResolutionPending(Conflict):
    detail = "A resolution of this dispute waits for its decision already."


class BuyerCannotDecide(Forbidden):
    detail = "A buyer cannot decide on a return request of their own, under any role."


class PartyCannotDecide(Forbidden):
    detail = "Buyer and vendor of an order cannot decide on its dispute, under any role."


class UnknownItem(ValidationFailed):
    detail = "An item of this request is not in the order."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{place}.itemId", "is not in the order") for place in positions]
        )


class RepeatedItem(ValidationFailed):
    detail = "Each item stands in a request once, with its quantity."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("items", "an item stands in the list twice")])


class QuantityExceedsOrder(ValidationFailed):
    detail = "More is to be returned than was bought."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{place}.quantity", "more than was bought") for place in positions]
        )


class QuantityExceedsRemainder(Conflict):
    """Other requests, open or approved, hold the rest."""

    detail = "Other return requests of this order leave less than that."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{place}.quantity", "more than is left") for place in positions]
        )


class ReturnWindowClosed(Conflict):
    detail = "The time to return goods of this order is over."


class ExportTooLong(ValidationFailed):
    def __init__(self, rows_max: int) -> None:
        super().__init__(
            f"More than {rows_max} orders match. Narrow the filters, by from and to for instance.",
            invalid_params=[InvalidParam("from", f"more than {rows_max} orders match; narrow the filters")],
        )
