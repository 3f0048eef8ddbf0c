"""What a checkout costs: prices and commission as the catalog has them now, frozen into a quote. All money in kobo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.primitives.money import share_half_even
from orders.domain.errors import (
    MultipleVendors,
    OutOfStock,
    PriceChanged,
    RepeatedProduct,
    UnknownCampus,
    UnknownHub,
    UnknownProduct,
    VendorSuspended,
)
from orders.domain.flash_sales import RunningSale, sale_price

# The platform's share where the vendor has no agreement of its own (contract section 7).
COMMISSION_BASIS_POINTS_DEFAULT: Final = 500


@dataclass(frozen=True, slots=True)
class RequestedItem:
    """One line of a checkout."""

    product_id: UUID
    quantity: int


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the buyer wants the goods, as asked; and what is known of it."""

    campus_id: UUID | None
    campus_known: bool
    hub_id: UUID | None
    hub: "Hub | None"


@dataclass(frozen=True, slots=True)
class Hub:
    """A pick-up point that takes deliveries."""

    campus_id: UUID
    delivery_fee_minor: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A product as the catalog offers it now."""

    vendor_id: UUID
    campus_id: UUID
    name: str
    price_minor: int
    stock: int
    commission_basis_points: int | None
    vendor_suspended: bool = False
    sale: RunningSale | None = None
    vendor_owner_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A line with its price; `shelf_price_minor` is what a unit costs outside the sale, the same without one."""

    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    regular_price_minor: int
    sale_id: UUID | None = None

    @property
    def line_total_minor(self) -> int:
        return self.unit_price_minor * self.quantity


@dataclass(frozen=True, slots=True)
class Quote:
    """Everything that checkout freezes."""

    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
    lines: tuple[QuotedLine, ...]
    delivery_fee_minor: int
    commission_minor: int

    @property
    def subtotal_minor(self) -> int:
        return sum(line.line_total_minor for line in self.lines)

    @property
    def total_minor(self) -> int:
        return self.subtotal_minor + self.delivery_fee_minor


def quote(
    requested_items: Sequence[RequestedItem],
    offers: Mapping[UUID, Offer],
    destination: Destination,
    expected_total_minor: int | None,
) -> Quote:
    """The quote for a checkout.

    Raises RepeatedProduct, UnknownProduct, SeveralVendors, UnknownHub, UnknownCampus (422), VendorSuspended, FlashSaleSoldOut,
    FlashSaleLimitReached, PriceMoved, OutOfStock (409).
    """
    if len({requested_item.product_id for requested_item in requested_items}) < len(requested_items):
        raise RepeatedProduct
    absent = [
        position for position, requested_item in enumerate(requested_items) if requested_item.product_id not in offers
    ]
    if absent:
        raise UnknownProduct(absent)
    wanted = [offers[requested_item.product_id] for requested_item in requested_items]
    if len({offer.vendor_id for offer in wanted}) > 1:
        raise MultipleVendors
    if wanted[0].vendor_suspended:
        raise VendorSuspended
    lines = tuple(_line(requested_item, offer) for requested_item, offer in zip(requested_items, wanted, strict=True))
    first = wanted[0]
    points = first.commission_basis_points
    quoted = Quote(
        vendor_id=first.vendor_id,
        campus_id=_campus_of(destination, first.campus_id),
        hub_id=destination.hub_id,
        lines=lines,
        delivery_fee_minor=destination.hub.delivery_fee_minor if destination.hub else 0,
        commission_minor=share_half_even(
            sum(line.line_total_minor for line in lines), COMMISSION_BASIS_POINTS_DEFAULT if points is None else points
        ),
    )
    if expected_total_minor is not None and expected_total_minor != quoted.total_minor:
        raise PriceChanged(quoted.total_minor)
    short = [
        position
        for position, (requested_item, offer) in enumerate(zip(requested_items, wanted, strict=True))
        if offer.stock < requested_item.quantity
    ]
    if short:
        raise OutOfStock(short)
    return quoted


def _line(requested_item: RequestedItem, offer: Offer) -> QuotedLine:
    shelf, sale = offer.price_minor, offer.sale
    price = shelf if sale is None else sale_price(sale, requested_item.quantity, shelf)
    return QuotedLine(
        requested_item.product_id, offer.name, requested_item.quantity, price, shelf, sale.id if sale else None
    )


def _campus_of(destination: Destination, vendors_campus_id: UUID) -> UUID:
    """The hub's campus, else the one asked for, else the vendor's."""
    if destination.hub_id is not None:
        if destination.hub is None:
            raise UnknownHub
        if destination.campus_id not in (None, destination.hub.campus_id):
            raise UnknownHub("the hub is on another campus")
        return destination.hub.campus_id
    if destination.campus_id is None or destination.campus_id == vendors_campus_id:
        return vendors_campus_id
    if not destination.campus_known:
        raise UnknownCampus
    return destination.campus_id
