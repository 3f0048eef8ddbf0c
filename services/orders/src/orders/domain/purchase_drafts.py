"""Purchase drafts: carts of the messaging app that wait for the buyer's confirmation (contract section 6.7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

from common.primitives.ids import parse_uuid
from common.primitives.problems import Conflict, InvalidParam
from orders.domain.quotes import RequestedItem

# A cart is older then than what its buyer wants today.
OPEN_FOR: Final = timedelta(days=7)
KEPT: Final = timedelta(days=30)
# As many as a purchase has; the messaging app sends fewer.
LINES_MAX: Final = 100
QUANTITY_MAX: Final = 99

DraftStatus = Literal["open", "checked_out", "expired"]
Obstacle = Literal["unavailable", "variant_required", "vendor_away", "out_of_stock"]
_REASONS: Final[dict[Obstacle, str]] = {
    "unavailable": "is no longer sold, or is no product of the marketplace",
    "variant_required": "is sold in variants: order one of them",
    "vendor_away": "is of a vendor that is away",
    "out_of_stock": "is out of stock in this quantity",
}


class DraftLine(NamedTuple):
    """A line as the messaging app sent it."""

    retailer_id: str
    quantity: int


@dataclass(frozen=True, slots=True)
class DraftItem:
    """A line with the product that is sold under its id; prices in kobo. Without one, `product_id` is None."""

    retailer_id: str
    quantity: int
    product_id: UUID | None
    variant_id: UUID | None
    vendor_id: UUID | None
    vendor_name: str | None
    name: str | None
    unit_price_minor: int | None
    available: int
    has_variants: bool
    is_vendor_absent: bool

    @property
    def obstacle(self) -> Obstacle | None:
        """Return what keeps the item from being ordered."""
        if self.product_id is None:
            return "unavailable"
        if self.has_variants and self.variant_id is None:
            return "variant_required"
        if self.is_vendor_absent:
            return "vendor_away"
        return "out_of_stock" if self.available < self.quantity else None


def merge_lines(lines: Sequence[DraftLine]) -> list[DraftLine]:
    """Return one line for each product, however its id is written, within the limits of a purchase."""
    quantities: dict[str, int] = {}
    for line in lines:
        retailer_id = str(parse_uuid(line.retailer_id) or line.retailer_id)
        quantities[retailer_id] = min(quantities.get(retailer_id, 0) + line.quantity, QUANTITY_MAX)
    merged = [DraftLine(retailer_id, quantity) for retailer_id, quantity in quantities.items()]
    return merged[:LINES_MAX]


def draft_status(purchase_id: UUID | None, created_at: datetime, now: datetime) -> DraftStatus:
    if purchase_id is not None:
        return "checked_out"
    return "open" if now < created_at + OPEN_FOR else "expired"


def orderable_items(items: Sequence[DraftItem], *, skip_unavailable: bool) -> list[RequestedItem]:
    """Return the items to order. Raises DraftUnavailable (409), which names all others, unless they are skipped."""
    obstacles = {position: item.obstacle for position, item in enumerate(items) if item.obstacle is not None}
    requested = [
        RequestedItem(item.product_id, item.quantity, item.variant_id)
        for position, item in enumerate(items)
        if position not in obstacles and item.product_id is not None
    ]
    if not requested or (obstacles and not skip_unavailable):
        raise DraftUnavailable(obstacles)
    return requested


class DraftUnavailable(Conflict):
    detail = "Items of this draft cannot be ordered. Send skipUnavailable to order the others. Nothing was ordered."

    def __init__(self, obstacles: dict[int, Obstacle]) -> None:
        super().__init__(
            invalid_params=[
                InvalidParam(f"items.{position}.retailerId", _REASONS[obstacle])
                for position, obstacle in obstacles.items()
            ]
        )


class DraftExpired(Conflict):
    detail = "This draft has expired. Send the cart again. Nothing was ordered."


class DraftCheckedOut(Conflict):
    detail = "This draft was checked out under another Idempotency-Key. Its purchaseId names the purchase."
