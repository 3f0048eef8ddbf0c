"""The errors of this service, named by their condition (contract sections 2, 3 and 6)."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from common.primitives.clock import iso
from common.primitives.problems import (
    Conflict,
    Forbidden,
    InvalidParam,
    Problem,
    ProblemExtensions,
    RateLimited,
    Unavailable,
    ValidationFailed,
)

# A reissue by the buyer unlocks the PIN and needs about this time.


class UnknownProduct(ValidationFailed):
    detail = "A product of this checkout does not exist or is no longer sold. Remove it and check out again."

    def __init__(self, absent: Mapping[int, str]) -> None:
        """`absent` has the field that names what does not exist, by the position of the item."""
        super().__init__(
            invalid_params=[
                InvalidParam(f"items.{position}.{field}", "does not exist") for position, field in absent.items()
            ]
        )


class VariantRequired(ValidationFailed):
    """The product has variants (contract section 11.6)."""

    detail = "Choose a variant of the product and send its variantId."

    def __init__(self, prefixes: Sequence[str]) -> None:
        """`prefixes` lead to the items in the request, empty for a request of one."""
        super().__init__(
            invalid_params=[
                InvalidParam(f"{prefix}variantId", "is required: the product has variants") for prefix in prefixes
            ]
        )


class ProductNotSold(Conflict):
    detail = "A product of this purchase is no longer sold. Remove it and check out again. Nothing was ordered."

    def __init__(self, absent: Mapping[int, str]) -> None:
        """`absent` has the field that names what is gone, by the position of the item."""
        super().__init__(
            invalid_params=[
                param for position, field in absent.items() for param in _items([position], field, "is no longer sold")
            ]
        )


class MultipleVendors(ValidationFailed):
    detail = "An order has one vendor. Check out the products of each vendor separately."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("items", "the products belong to several vendors")])


class RepeatedProduct(ValidationFailed):
    detail = "A checkout lists each product or variant once. Add up its quantities."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("items", "lists a product or variant twice")])


class UnknownHub(ValidationFailed):
    detail = "The delivery hub does not exist or is closed. Choose another hub."

    def __init__(self, field: str, reason: str = "does not exist") -> None:
        super().__init__(invalid_params=[InvalidParam(field, reason)])


class UnknownCampus(ValidationFailed):
    detail = "The delivery campus does not exist or is closed. Choose another campus."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("campusId", "does not exist")])


class VendorSuspended(Conflict):
    """Staff suspended the vendor: new checkouts are rejected, open orders continue (contract section 10)."""

    detail = "This vendor is suspended and accepts no new orders. Nothing was ordered."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(invalid_params=_items(positions, "productId", "its vendor is suspended"))


class VendorAbsent(Conflict):
    """The vendor takes no new orders before the end of its absence; paid orders go on (contract section 11.5)."""

    detail = "The vendor of a product is away and takes no new orders. Nothing was ordered."

    def __init__(self, ends: Mapping[int, datetime]) -> None:
        """Name the end of the absence by the position of the item."""
        super().__init__(
            invalid_params=[
                param
                for position, until in ends.items()
                for param in _items([position], "productId", f"its vendor is away until {iso(until)}")
            ]
        )


class ErasureInProgress(Conflict):
    """The account of the buyer or of the vendor's owner is being erased or was erased."""

    detail = "The buyer's or the vendor's account is being closed and allows nothing new. Nothing was changed."


class OwnVendor(Forbidden):
    """The vendor's owner, or an account that sells for the vendor (contract section 6.3)."""

    detail = "This is your own vendor. You cannot buy from it or review it."


class OutOfStock(Conflict):
    detail = "A product of this checkout has too little stock. Nothing was ordered."

    def __init__(self, positions: Sequence[int] = ()) -> None:
        super().__init__(invalid_params=_items(positions, "quantity", "exceeds the stock"))


class TooManyUnpaidOrders(Conflict):
    """The buyer has `UNPAID_ORDERS_MAX` unpaid orders (contract section 6.3)."""

    def __init__(self, orders_max: int) -> None:
        super().__init__(
            f"You have {orders_max} unpaid orders, the most that a buyer may have (UNPAID_ORDERS_MAX). "
            "Pay or cancel one of them, then order again. Nothing was ordered."
        )


class UnpaidShareExceeded(Conflict):
    """The buyer's unpaid orders would reserve more than `UNPAID_SHARE_MAX_PERCENT` of a product's stock."""

    detail = (
        "Your unpaid orders would reserve too much of a product's stock (UNPAID_SHARE_MAX_PERCENT). "
        "Order fewer pieces, or pay your other orders of it first. Nothing was ordered."
    )

    def __init__(self, pieces_max: Mapping[int, int]) -> None:
        """`pieces_max` has the most pieces that may be unpaid by the position of the item."""
        super().__init__(
            invalid_params=[
                InvalidParam(
                    f"items.{position}.quantity", f"at most {most} pieces may be unpaid, all your orders together"
                )
                for position, most in pieces_max.items()
            ]
        )


class PriceChanged(Conflict):
    """The total differs from the total that the buyer saw. Nothing was ordered."""

    detail = "The total has changed since you saw it. Check it before you order again."

    def __init__(self, total_minor: int | None = None) -> None:
        extensions: ProblemExtensions = {} if total_minor is None else {"totalMinor": total_minor}
        super().__init__(extensions=extensions)


class ForbiddenTransition(Conflict):
    """A command that the order's state does not allow."""

    def __init__(self, status: str) -> None:
        super().__init__(f"The order is {status}, which does not allow this.")


class NoDeliveryPinYet(Conflict):
    """The payment creates the PIN."""

    detail = "The order is not paid yet. Its payment creates the delivery PIN."


class DeliveryPinInvalid(Problem):
    """A wrong PIN; the attempt is counted although the response is an error."""

    status, code, detail = 400, "DELIVERY_PIN_INVALID", "This is not the order's delivery PIN."

    def __init__(self, attempts_remaining: int) -> None:
        super().__init__(extensions={"attemptsRemaining": attempts_remaining})


class DeliveryPinLocked(RateLimited):
    """Five wrong attempts. Waiting unlocks nothing: `Retry-After` is the time until the order changes by itself."""

    def __init__(self, reissues_remaining: int, retry_after_seconds: int) -> None:
        left = f"{reissues_remaining} time" if reissues_remaining == 1 else f"{reissues_remaining} times"
        remedy = (
            f"The buyer can have the PIN reissued, {left} more."
            if reissues_remaining
            else "The buyer can no longer reissue it: support can, or the buyer can dispute the order."
        )
        super().__init__(
            f"Five wrong attempts have locked this delivery PIN. {remedy}",
            headers={"Retry-After": str(retry_after_seconds)},
        )


class ReissueLimitReached(Conflict):
    detail = (
        "The delivery PIN of this order was reissued three times, which is the limit. Write to support, who can reissue"
        " it, or dispute the order."
    )


class ListFull(Conflict):
    """The buyer's list of saved products or followed vendors has its most entries."""

    def __init__(self, entries_max: int) -> None:
        super().__init__(f"The list has {entries_max} entries, the most that it may have. Remove one first.")


class InvalidFlashSale(ValidationFailed):
    detail = "The sale price, quantity or period is invalid."

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(invalid_params=[InvalidParam(name, reason) for name, reason in faults.items()])


class FlashSaleOverlaps(Conflict):
    detail = "The product has another flash sale in this period. Choose another period."


class FlashSaleNotPossible(Conflict):
    """The proposed terms became invalid before the vendor's approval: the price, the stock or the time changed."""

    detail = "The sale is no longer possible on these terms. Nothing was changed."

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(invalid_params=[InvalidParam(name, reason) for name, reason in faults.items()])


class FlashSaleSoldOut(Conflict):
    """No units are left. The order is not placed at the regular price."""

    detail = "The flash sale is sold out. Nothing was ordered."

    def __init__(self, positions: Sequence[int] = ()) -> None:
        super().__init__(invalid_params=_items(positions, "quantity", "exceeds what is left of the flash sale"))


class FlashSaleLimitReached(Conflict):
    def __init__(self, limit: int, positions: Sequence[int] = ()) -> None:
        super().__init__(
            f"The flash sale allows each buyer at most {limit}. Nothing was ordered.",
            invalid_params=_items(positions, "quantity", f"at most {limit} are allowed"),
        )


class UnknownDelivery(ValidationFailed):
    detail = "A purchase has one delivery at most for each of its vendors."

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(invalid_params=[InvalidParam(f"deliveries.{position}.vendorId", reason)])


class EmptyCart(ValidationFailed):
    detail = "The cart has nothing to check out."

    def __init__(self, name: str) -> None:
        super().__init__(invalid_params=[InvalidParam(name, "has no lines in the cart")])


class VendorRequired(ValidationFailed):
    detail = "The cart holds products of several vendors, and an order has one vendor. Send vendorId."

    def __init__(self) -> None:
        super().__init__(
            invalid_params=[InvalidParam("vendorId", "is required: the cart holds products of several vendors")]
        )


class CartFull(Conflict):
    detail = "The cart is full. Remove a product first."


class VendorNotReceived(Conflict):
    """The merchant's token names a vendor whose approval event has not been received yet."""

    detail = "Your vendor account is being set up. Try again in a moment."


class ForeignProduct(Forbidden):
    """A listed product of another vendor."""

    detail = "This product belongs to another vendor."


class ProductRemoved(Conflict):
    detail = "The product was removed and cannot be changed."


class InvalidVariants(ValidationFailed):
    detail = "The options and variants do not fit together."

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(invalid_params=[InvalidParam(name, reason) for name, reason in faults.items()])


class PricedByVariants(ValidationFailed):
    """The price and the stock of a product with variants are those of its variants."""

    detail = "Change the price and the stock of a product with variants in its variants."

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(invalid_params=[InvalidParam(name, "is that of the variants") for name in names])


class TooManyImages(Conflict):
    detail = "The product has eight images already. Remove one first."


class TooManyEvidenceImages(Conflict):
    def __init__(self, images_max: int) -> None:
        super().__init__(f"You have added {images_max} images to this dispute, which is the maximum.")


class NoVendor(Forbidden):
    detail = "Your account has no vendor."


class SplitWithoutRefund(ValidationFailed):
    detail = "A split needs refundMinor, the refund to the buyer."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("refundMinor", "is required for the outcome split")])


class RefundWithoutSplit(ValidationFailed):
    detail = "Only a split takes refundMinor: for the buyer everything is refunded, for the vendor nothing."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("refundMinor", "is allowed with the outcome split only")])


class RefundExceedsOrder(ValidationFailed):
    detail = "A split leaves at least 1 kobo to the buyer and to the vendor."

    def __init__(self, total_minor: int) -> None:
        reason = f"must be from 1 to {total_minor - 1} kobo, below the order's total"
        super().__init__(invalid_params=[InvalidParam("refundMinor", reason)])


class ResolutionPending(Conflict):
    detail = "Another resolution of this dispute awaits its decision."


class PartyCannotDecide(Forbidden):
    detail = "Buyer and vendor of an order cannot decide on its dispute, under any role."


class InvalidFile(ValidationFailed):
    def __init__(self, reason: str) -> None:
        super().__init__(f"The file {reason}.", invalid_params=[InvalidParam("file", reason)])


class CatalogTooLong(ValidationFailed):
    def __init__(self, rows_max: int) -> None:
        super().__init__(f"The catalog has more than {rows_max} rows. Remove products that you no longer sell.")


class ExportTooLong(ValidationFailed):
    def __init__(self, rows_max: int) -> None:
        super().__init__(
            f"More than {rows_max} orders match. Narrow the filters, by from and to for instance.",
            invalid_params=[InvalidParam("from", f"more than {rows_max} orders match; narrow the filters")],
        )


def _items(positions: Sequence[int], field: str, reason: str) -> list[InvalidParam]:
    """Name items of a checkout: the reason has the form of the contract, `items[n]`."""
    return [InvalidParam(f"items.{position}.{field}", f"items[{position}] {reason}") for position in positions]


class CheckoutStopped(Unavailable):
    """Staff have stopped checkout; their sentence for buyers is the detail, and `Retry-After` the end of the stop."""

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)
