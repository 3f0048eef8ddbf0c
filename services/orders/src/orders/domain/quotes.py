"""The quote of a checkout: current prices and commission, frozen for the order. All money in kobo."""

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

# For vendors without an agreement of their own (contract section 7).
COMMISSION_BASIS_POINTS_DEFAULT: Final = 500


@dataclass(frozen=True, slots=True)
class RequestedItem:
    """One line of a checkout."""

    product_id: UUID
    quantity: int


@dataclass(frozen=True, slots=True)
class Destination:
    """The requested campus and hub, and their projections."""

    campus_id: UUID | None
    campus_known: bool
    hub_id: UUID | None
    hub: "Hub | None"


@dataclass(frozen=True, slots=True)
class Hub:
    """An active pick-up point."""

    campus_id: UUID
    delivery_fee_minor: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A product at its current price and stock."""

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
    """A line with its price; `regular_price_minor` is what a unit costs outside the sale, the same without one."""

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
    """The frozen terms of a checkout."""

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
    items: Sequence[RequestedItem],
    offers: Mapping[UUID, Offer],
    destination: Destination,
    expected_total_minor: int | None,
) -> Quote:
    """Validate a checkout against the offers and price it.

    Raises RepeatedProduct, UnknownProduct, MultipleVendors, UnknownHub, UnknownCampus (422), VendorSuspended,
    FlashSaleSoldOut, FlashSaleLimitReached, PriceChanged, OutOfStock (409).
    """
    if len({item.product_id for item in items}) < len(items):
        raise RepeatedProduct
    absent = [position for position, item in enumerate(items) if item.product_id not in offers]
    if absent:
        raise UnknownProduct(absent)
    chosen = [offers[item.product_id] for item in items]
    if len({offer.vendor_id for offer in chosen}) > 1:
        raise MultipleVendors
    if chosen[0].vendor_suspended:
        raise VendorSuspended
    lines = tuple(_line(item, offer) for item, offer in zip(items, chosen, strict=True))
    first = chosen[0]
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
        for position, (item, offer) in enumerate(zip(items, chosen, strict=True))
        if offer.stock < item.quantity
    ]
    if short:
        raise OutOfStock(short)
    return quoted


def _line(item: RequestedItem, offer: Offer) -> QuotedLine:
    regular, sale = offer.price_minor, offer.sale
    price = regular if sale is None else sale_price(sale, item.quantity, regular)
    return QuotedLine(item.product_id, offer.name, item.quantity, price, regular, sale.id if sale else None)


def _campus_of(destination: Destination, vendor_campus_id: UUID) -> UUID:
    """Return the hub's campus, else the requested campus, else the vendor's campus."""
    if destination.hub_id is not None:
        if destination.hub is None:
            raise UnknownHub
        if destination.campus_id not in (None, destination.hub.campus_id):
            raise UnknownHub("the hub is on another campus")
        return destination.hub.campus_id
    if destination.campus_id is None or destination.campus_id == vendor_campus_id:
        return vendor_campus_id
    if not destination.campus_known:
        raise UnknownCampus
    return destination.campus_id
