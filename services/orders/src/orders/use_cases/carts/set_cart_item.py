"""Set the quantity of a product in the cart."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.errors import CartFull
from orders.domain.quotes import RequestedItem
from orders.queries.carts import find_cart_offer
from orders.store import carts

ITEMS_MAX: Final = 100


async def set_cart_item(
    uow: UnitOfWork, caller: Caller, product_id: UUID, variant_id: UUID | None, quantity: int, *, now: datetime
) -> None:
    """Add a product, or one of its variants, to the buyer's cart or change its quantity, and record the price that the
    buyer sees.

    Stock is reserved at checkout only. Raises NotFound for a product that is not listed, the errors of
    `find_cart_offer`, CartFull (409).
    """
    offer = await find_cart_offer(uow, product_id, variant_id, now=now)
    if offer is None:
        raise NotFound
    item = RequestedItem(product_id, quantity, variant_id)
    if not await carts.save_item(uow, caller.id, item, offer, now=now, items_max=ITEMS_MAX):
        raise CartFull
