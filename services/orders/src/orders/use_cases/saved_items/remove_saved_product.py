"""Remove a saved product."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from orders.store import saved_items


async def remove_saved_product(uow: UnitOfWork, caller: Caller, product_id: UUID) -> None:
    """Remove the product from the buyer's saved products. A product that is not saved changes nothing."""
    await saved_items.remove_product(uow, caller.id, product_id)
