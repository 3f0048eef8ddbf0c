"""Sales of a limited quantity: what may begin, and what a buyer may still take (contract section 11). Money in kobo."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.decisions import content_hash
from orders.domain.errors import FlashSaleLimitReached, FlashSaleOverlaps, FlashSaleSoldOut, InvalidFlashSale

# Longer, or further ahead, it would be a price and no sale.
LENGTH_MAX: Final = timedelta(days=30)
AHEAD_MAX: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class SaleTerms:
    """What a merchant or campus staff offer."""

    product_id: UUID
    price_minor: int
    quantity: int
    per_buyer_limit: int
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class FlashSale:
    """A sale as it was begun or proposed; `approved` has the vendor's consent."""

    id: UUID
    vendor_id: UUID
    campus_id: UUID
    terms: SaleTerms
    created_by: UUID
    approved: bool

    @property
    def hash(self) -> str:
        return content_hash(
            {"id": self.id, "vendorId": self.vendor_id, "createdBy": self.created_by, **asdict(self.terms)}
        )


@dataclass(frozen=True, slots=True)
class RunningSale:
    """A sale of a product at this moment, as one buyer meets it: what is left, and what they have taken of it before."""

    id: UUID
    price_minor: int
    remaining: int
    per_buyer_limit: int
    taken: int


def check_terms(
    terms: SaleTerms,
    *,
    regular_price_minor: int,
    stock: int,
    others: Iterable[tuple[datetime, datetime]],
    now: datetime,
) -> None:
    """Raises BadFlashSale (422) for terms that make no sale, FlashSaleOverlaps (409) beside another sale of the product."""
    faults = {
        "priceMinor": terms.price_minor >= regular_price_minor and "must be below the product's price",
        "quantity": terms.quantity > stock and "is more than the product's stock",
        "perBuyerLimit": terms.per_buyer_limit > terms.quantity and "is more than the sale's quantity",
        "endsAt": (terms.ends_at <= now and "is over already")
        or (terms.ends_at <= terms.starts_at and "must be after startsAt")
        or (terms.ends_at - terms.starts_at > LENGTH_MAX and f"must be within {LENGTH_MAX.days} days of startsAt"),
        "startsAt": terms.starts_at > now + AHEAD_MAX and f"must be within {AHEAD_MAX.days} days",
    }
    found = {name: reason for name, reason in faults.items() if reason}
    if found:
        raise InvalidFlashSale(found)
    if any(starts_at < terms.ends_at and terms.starts_at < ends_at for starts_at, ends_at in others):
        raise FlashSaleOverlaps


def sale_price(sale: RunningSale, quantity: int, regular_price_minor: int) -> int:
    """The price of a unit while the sale runs. Nobody pays the regular price unawares: what the sale cannot give is refused.

    Raises FlashSaleSoldOut and FlashSaleLimitReached (409).
    """
    if sale.taken + quantity > sale.per_buyer_limit:
        raise FlashSaleLimitReached(sale.per_buyer_limit)
    if quantity > sale.remaining:
        raise FlashSaleSoldOut
    return min(sale.price_minor, regular_price_minor)
