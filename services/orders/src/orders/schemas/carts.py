"""The cart (contract section 11)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody, ResponseShape


class SetCartItemRequest(RequestBody):
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class CartItem(ResponseShape):
    """A line at the current price. `inStock`: the quantity is available; `available`: the available quantity."""

    product_id: UUID
    vendor_id: UUID
    vendor_name: str | None
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int
    price_changed: bool
    in_stock: bool
    available: int


class Cart(ResponseShape):
    """`totalMinor` (kobo) counts the lines that are in stock."""

    id: UUID
    items: list[CartItem]
    total_minor: int
    currency: str
