"""Project the money of an order onto its items."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.sales import Sale, divide_sale
from orders.store import sales
from orders.store.orders import SoldOrder


async def project_sale(uow: UnitOfWork, sold: SoldOrder, sale: Sale, sequence: int) -> Rejection | None:
    """Save the share of each item, and what returned to the buyer, unless a newer event of the order is known.

    The event states all amounts of the order, so that no event is added up twice and a lost one is made good by the
    next. The lines and the order's own figure change together, under the lock of the order.
    """
    lines = divide_sale(sale, sold.line_totals_minor)
    return None if await sales.save_sale_lines(uow, lines, sale.sold_at, sequence) else Rejection.STALE
