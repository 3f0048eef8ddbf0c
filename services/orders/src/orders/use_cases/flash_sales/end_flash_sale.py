"""End a flash sale early."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from orders.domain.order_roles import may_propose_sales_at, may_sell_for
from orders.store import flash_sales


async def end_flash_sale(uow: UnitOfWork, caller: Caller, sale_id: UUID, *, now: datetime) -> None:
    """End a running sale, or decline a proposed one, as its vendor or staff of the campus. An ended sale is unchanged.

    Raises NotFound and Forbidden.
    """
    parties = await flash_sales.find_sale_parties(uow, sale_id)
    if parties is None:
        raise NotFound
    vendor_id, campus_id = parties
    if not may_sell_for(caller, vendor_id) and not may_propose_sales_at(caller, campus_id):
        raise Forbidden
    await flash_sales.close_sale(uow, sale_id, now)
