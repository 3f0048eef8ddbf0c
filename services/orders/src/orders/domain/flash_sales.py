"""Flash sales: valid terms, and a buyer's price (contract section 11). Money in kobo."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.decisions import content_hash
from orders.domain.errors import FlashSaleLimitReached, FlashSaleOverlaps, FlashSaleSoldOut, InvalidFlashSale

# A longer or later offer is a regular price.
LENGTH_MAX: Final = timedelta(days=30)
AHEAD_MAX: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class SaleTerms:
    """The terms of a flash sale."""

    product_id: UUID
    price_minor: int
    quantity: int
    per_buyer_limit: int
    starts_at: datetime
    ends_at: datetime
    variant_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class FlashSale:
    """A flash sale; `approved` when the vendor created or approved it."""

    id: UUID
    vendor_id: UUID
    campus_id: UUID
    terms: SaleTerms
    created_by: UUID
    approved: bool

    @property
    def hash(self) -> str:
        # Terms without a variant have the hash of earlier versions.
        terms = {name: value for name, value in asdict(self.terms).items() if value is not None}
        return content_hash({"id": self.id, "vendorId": self.vendor_id, "createdBy": self.created_by, **terms})


@dataclass(frozen=True, slots=True)
class RunningSale:
    """A running flash sale for one buyer: the remaining units, and the units that the buyer bought before."""

    id: UUID
    price_minor: int
    remaining: int
    per_buyer_limit: int
    bought: int


def check_variant(variant_id: UUID | None, *, has_variants: bool, is_sold: bool) -> None:
    """Reject a sale of a product with variants that names none of them. Raises InvalidFlashSale (422)."""
    if variant_id is None and has_variants:
        raise InvalidFlashSale({"variantId": "is required: the product has variants"})
    if variant_id is not None and not is_sold:
        raise InvalidFlashSale({"variantId": "is no variant of the product that is sold"})


def check_terms(
    terms: SaleTerms,
    *,
    regular_price_minor: int,
    stock: int,
    others: Iterable[tuple[datetime, datetime]],
    now: datetime,
) -> None:
    """Raise InvalidFlashSale (422) for invalid terms, FlashSaleOverlaps (409) for an overlap with another sale of the
    product.
    """
    faults = {
        "priceMinor": terms.price_minor >= regular_price_minor and "must be below the product's price",
        "quantity": terms.quantity > stock and "is more than the product's stock",
        "perBuyerLimit": terms.per_buyer_limit > terms.quantity and "is more than the sale's quantity",
        "endsAt": (terms.ends_at <= now and "is in the past")
        or (terms.ends_at <= terms.starts_at and "must be after startsAt")
        or (terms.ends_at - terms.starts_at > LENGTH_MAX and f"must be within {LENGTH_MAX.days} days of startsAt"),
        "startsAt": terms.starts_at > now + AHEAD_MAX and f"must be within {AHEAD_MAX.days} days",
    }
    found = {name: reason for name, reason in faults.items() if reason}
    if found:
        raise InvalidFlashSale(found)
    if any(starts_at < terms.ends_at and terms.starts_at < ends_at for starts_at, ends_at in others):
        raise FlashSaleOverlaps


def sale_price(sale: RunningSale, quantity: int, regular_price_minor: int, *, position: int) -> int:
    """Return the unit price while the sale runs. A quantity beyond the sale is rejected, never sold at the regular
    price. `position` is that of the item in its checkout.

    Raises FlashSaleSoldOut and FlashSaleLimitReached (409).
    """
    if sale.bought + quantity > sale.per_buyer_limit:
        raise FlashSaleLimitReached(sale.per_buyer_limit, [position])
    if quantity > sale.remaining:
        raise FlashSaleSoldOut([position])
    return min(sale.price_minor, regular_price_minor)
