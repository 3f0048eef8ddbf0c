"""Ending a sale before its time."""

from datetime import datetime
from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from common.problems import Forbidden, NotFound
from orders.domain.parties import keeps_sales_of
from orders.store import sales


async def end_flash_sale(uow: UnitOfWork, caller: Caller, sale_id: UUID, *, now: datetime) -> None:
    """Its keeper ends a sale: from now on the product costs its regular price. A sale that is over stays as it is.

    Raises NotFound and Forbidden.
    """
    keepers = await sales.find_keepers(uow, sale_id)
    if keepers is None:
        raise NotFound
    if not keeps_sales_of(caller, *keepers):
        raise Forbidden
    await sales.end_sale(uow, sale_id, now)
