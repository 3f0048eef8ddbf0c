"""Remove products from the cart."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from orders.store import carts


async def remove_cart_item(
    uow: UnitOfWork, caller: Caller, product_id: UUID | None, variant_id: UUID | None = None
) -> None:
    """Remove a product with its variants, one variant, or all products from the buyer's cart. What is not in it changes
    nothing.
    """
    if product_id is None:
        await carts.remove_all_items(uow, caller.id)
    else:
        await carts.remove_item(uow, caller.id, product_id, variant_id)
