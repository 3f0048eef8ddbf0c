"""Putting a product in one's cart."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.errors import CartFull
from orders.queries.carts import find_cart_offer
from orders.store import carts

ITEMS_MAX: Final = 100


async def set_cart_item(uow: UnitOfWork, caller: Caller, product_id: UUID, quantity: int, *, now: datetime) -> None:
    """A buyer puts so many of a product in their cart, or changes how many; the price they see now is kept beside.

    Stock is not reserved before checkout. Raises NotFound for a product that is not sold, and CartFull (409).
    """
    sold = await find_cart_offer(uow, product_id, now=now)
    if sold is None:
        raise NotFound
    saved = await carts.save_item(
        uow,
        buyer_id=caller.id,
        product_id=product_id,
        vendor_id=sold["vendor_id"],
        name=sold["name"],
        price_seen_minor=sold["unit_price_minor"],
        quantity=quantity,
        now=now,
        items_max=ITEMS_MAX,
    )
    if not saved:
        raise CartFull
