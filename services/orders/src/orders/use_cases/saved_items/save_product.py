"""Save a product."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.errors import ListFull
from orders.domain.saved_items import ENTRIES_MAX
from orders.store import saved_items


async def save_product(uow: UnitOfWork, caller: Caller, product_id: UUID, *, now: datetime) -> None:
    """Add the product to the buyer's saved products. Saving it again has no effect.

    Raises NotFound for a product that is not listed, ListFull (409) and ErasureInProgress (409).
    """
    if await saved_items.is_saved(uow, caller.id, product_id):
        return
    if not await saved_items.is_listed(uow, product_id):
        raise NotFound
    saved = await saved_items.save_product(uow, caller.id, product_id, now, ENTRIES_MAX)
    if not saved and not await saved_items.is_saved(uow, caller.id, product_id):
        raise ListFull(ENTRIES_MAX)
