"""Responses of the cart."""

from uuid import UUID

from common.web.response_models import ResponseModel


class CartItem(ResponseModel):
    """A line at the current price. `inStock`: the quantity is available; `available`: the available quantity."""

    product_id: UUID
    variant_id: UUID | None
    vendor_id: UUID
    vendor_name: str | None
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int
    price_changed: bool
    in_stock: bool
    available: int


class Cart(ResponseModel):
    """`totalMinor` (kobo) counts the lines that are in stock."""

    id: UUID
    items: list[CartItem]
    total_minor: int
    currency: str
