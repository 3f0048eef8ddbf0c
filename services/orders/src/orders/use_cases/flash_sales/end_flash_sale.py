"""Ending a sale before its time."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from orders.domain.order_roles import may_propose_sales_at, may_sell_for
from orders.store import flash_sales


async def end_flash_sale(uow: UnitOfWork, caller: Caller, sale_id: UUID, *, now: datetime) -> None:
    """The vendor or the staff of the campus end a sale: from now on the product costs its regular price. A proposed sale can then no
    longer be approved. A sale that is over stays as it is.

    Raises NotFound and Forbidden.
    """
    keepers = await flash_sales.find_sale_parties(uow, sale_id)
    if keepers is None:
        raise NotFound
    vendor_id, campus_id = keepers
    if not may_sell_for(caller, vendor_id) and not may_propose_sales_at(caller, campus_id):
        raise Forbidden
    await flash_sales.close_sale(uow, sale_id, now)
