"""The quote of a checkout: current prices and commission, frozen for the order. All money in kobo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.primitives.money import share_half_even
from orders.domain.errors import (
    MultipleVendors,
    OutOfStock,
    PriceChanged,
    ProductNotSold,
    RepeatedProduct,
    UnknownCampus,
    UnknownHub,
    UnknownProduct,
    VariantRequired,
    VendorAbsent,
    VendorSuspended,
)
from orders.domain.flash_sales import RunningSale, sale_price
from orders.domain.variants import named

# For vendors without an agreement of their own (contract section 7).
COMMISSION_BASIS_POINTS_DEFAULT: Final = 500


@dataclass(frozen=True, slots=True)
class RequestedItem:
    """One line of a checkout; `offered_price_minor` (kobo) is the price of its offer, once that was read."""

    product_id: UUID
    quantity: int
    variant_id: UUID | None = None
    offer_id: UUID | None = None
    offered_price_minor: int | None = None


class NamedHub(NamedTuple):
    """A requested hub, and the field of the request that names it."""

    id: UUID
    field: str = "hubId"


@dataclass(frozen=True, slots=True)
class Destination:
    """The requested campus and hub, and their projections."""

    campus_id: UUID | None = None
    campus_known: bool = False
    requested_hub: NamedHub | None = None
    hub: "Hub | None" = None

    @property
    def hub_id(self) -> UUID | None:
        return None if self.requested_hub is None else self.requested_hub.id


@dataclass(frozen=True, slots=True)
class Hub:
    """An active pick-up point."""

    campus_id: UUID
    delivery_fee_minor: int


@dataclass(frozen=True, slots=True)
class OfferedVariant:
    """An active variant at its current price and stock."""

    option_values: Sequence[Sequence[str]]
    price_minor: int
    stock: int
    sale: RunningSale | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A product at its current price and stock, with the requested variants that are sold.

    `vendor_absent_until` is None while the vendor takes orders.
    """

    vendor_id: UUID
    campus_id: UUID
    name: str
    price_minor: int
    stock: int
    commission_basis_points: int | None
    vendor_suspended: bool = False
    sale: RunningSale | None = None
    vendor_owner_id: UUID | None = None
    vendor_name: str | None = None
    vendor_absent_until: datetime | None = None
    has_variants: bool = False
    variants: Mapping[UUID, OfferedVariant] = field(default_factory=dict)

    def of(self, variant_id: UUID | None) -> "Offer":
        """Return the offer of a variant: its name, price, stock and sale; of the product itself for None."""
        if variant_id is None:
            return self
        variant = self.variants[variant_id]
        name = named(self.name, variant.option_values)
        return replace(self, name=name, price_minor=variant.price_minor, stock=variant.stock, sale=variant.sale)


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A line with its price; `regular_price_minor` is what a unit costs without a sale or an offer."""

    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    regular_price_minor: int
    sale_id: UUID | None = None
    variant_id: UUID | None = None

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
    """Validate the checkout of one vendor's products against the offers and price it.

    Raises RepeatedProduct, UnknownProduct, VariantRequired, MultipleVendors, UnknownHub, UnknownCampus (422),
    VendorSuspended, VendorAbsent, FlashSaleSoldOut, FlashSaleLimitReached, PriceChanged, OutOfStock (409).
    """
    if absent := _absent(items, offers):
        raise UnknownProduct(absent)
    vendor_ids = {offers[item.product_id].vendor_id for item in items}
    if len(vendor_ids) > 1:
        raise MultipleVendors
    [quoted] = _quotes(items, offers, dict.fromkeys(vendor_ids, destination), expected_total_minor)
    return quoted


def quote_purchase(
    items: Sequence[RequestedItem],
    offers: Mapping[UUID, Offer],
    destinations: Mapping[UUID, Destination],
    expected_total_minor: int | None,
) -> list[Quote]:
    """Return the quote of each vendor, in the sequence in which the items name them; `destinations` is by vendor.

    Raises as `quote`, but ProductNotSold (409) for an unknown product or variant.
    """
    if absent := _absent(items, offers):
        raise ProductNotSold(absent)
    return _quotes(items, offers, destinations, expected_total_minor)


def _absent(items: Sequence[RequestedItem], offers: Mapping[UUID, Offer]) -> dict[int, str]:
    """Return the field that names what is not sold, by the position of the item."""
    if len({(item.product_id, item.variant_id) for item in items}) < len(items):
        raise RepeatedProduct
    absent = {}
    for position, item in enumerate(items):
        offer = offers.get(item.product_id)
        if offer is None:
            absent[position] = "productId"
        elif item.variant_id is not None and item.variant_id not in offer.variants:
            absent[position] = "variantId"
    return absent


def _quotes(
    items: Sequence[RequestedItem],
    offers: Mapping[UUID, Offer],
    destinations: Mapping[UUID, Destination],
    expected_total_minor: int | None,
) -> list[Quote]:
    undecided = [
        f"items.{position}."
        for position, item in enumerate(items)
        if item.variant_id is None and offers[item.product_id].has_variants
    ]
    if undecided:
        raise VariantRequired(undecided)
    chosen = [offers[item.product_id].of(item.variant_id) for item in items]
    if suspended := [position for position, offer in enumerate(chosen) if offer.vendor_suspended]:
        raise VendorSuspended(suspended)
    away = {position: offer.vendor_absent_until for position, offer in enumerate(chosen) if offer.vendor_absent_until}
    if away:
        raise VendorAbsent(away)
    lines: dict[UUID, list[QuotedLine]] = {}
    for position, (item, offer) in enumerate(zip(items, chosen, strict=True)):
        lines.setdefault(offer.vendor_id, []).append(_line(position, item, offer))
    # A vendor's products have its campus and its commission.
    offer_of = {offer.vendor_id: offer for offer in reversed(chosen)}
    quotes = [_quote(offer_of[vendor_id], tuple(own), destinations[vendor_id]) for vendor_id, own in lines.items()]
    total_minor = sum(quoted.total_minor for quoted in quotes)
    if expected_total_minor is not None and expected_total_minor != total_minor:
        raise PriceChanged(total_minor)
    short = [
        position
        for position, (item, offer) in enumerate(zip(items, chosen, strict=True))
        if offer.stock < item.quantity
    ]
    if short:
        raise OutOfStock(short)
    return quotes


def _quote(offer: Offer, lines: tuple[QuotedLine, ...], destination: Destination) -> Quote:
    points = offer.commission_basis_points
    return Quote(
        vendor_id=offer.vendor_id,
        campus_id=_campus_of(destination, offer.campus_id),
        hub_id=destination.hub_id,
        lines=lines,
        delivery_fee_minor=destination.hub.delivery_fee_minor if destination.hub else 0,
        commission_minor=share_half_even(
            sum(line.line_total_minor for line in lines), COMMISSION_BASIS_POINTS_DEFAULT if points is None else points
        ),
    )


def _line(position: int, item: RequestedItem, offer: Offer) -> QuotedLine:
    # An offer's price holds during a sale as well, and takes none of its units.
    regular, sale = offer.price_minor, offer.sale if item.offered_price_minor is None else None
    price = regular if item.offered_price_minor is None else item.offered_price_minor
    if sale is not None:
        price = sale_price(sale, item.quantity, regular, position=position)
    sale_id = sale.id if sale else None
    return QuotedLine(item.product_id, offer.name, item.quantity, price, regular, sale_id, item.variant_id)


def _campus_of(destination: Destination, vendor_campus_id: UUID) -> UUID:
    """Return the hub's campus, else the requested campus, else the vendor's campus."""
    if destination.requested_hub is not None:
        if destination.hub is None:
            raise UnknownHub(destination.requested_hub.field)
        if destination.campus_id not in (None, destination.hub.campus_id):
            raise UnknownHub(destination.requested_hub.field, "the hub is on another campus")
        return destination.hub.campus_id
    if destination.campus_id is None or destination.campus_id == vendor_campus_id:
        return vendor_campus_id
    if not destination.campus_known:
        raise UnknownCampus
    return destination.campus_id
