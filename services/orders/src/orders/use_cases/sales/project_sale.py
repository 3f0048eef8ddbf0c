"""Project the money of an order onto its items."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.order_updates import OrderNotReceived
from orders.domain.sales import Sale, divide_sale
from orders.domain.transitions import Rejection
from orders.store import sales


async def project_sale(uow: UnitOfWork, order_id: UUID, sale: Sale, sequence: int) -> Rejection | None:
    """Save the share of each item unless a newer event of the order is known. Raises OrderNotReceived.

    The event states all amounts of the order, so that no event is added up twice and a lost one is made good by the
    next.
    """
    line_totals = await sales.list_line_totals(uow, order_id)
    if not line_totals:
        raise OrderNotReceived(f"order {order_id} not received yet, retrying")
    lines = divide_sale(sale, line_totals)
    return None if await sales.save_sale_lines(uow, lines, sale.sold_at, sequence) else Rejection.STALE
