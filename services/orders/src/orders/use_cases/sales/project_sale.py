"""Project the money of an order onto its items."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import require_order
from orders.domain.sales import Sale, divide_sale
from orders.store import sales


async def project_sale(uow: UnitOfWork, order_id: UUID, sale: Sale, sequence: int) -> Rejection | None:
    """Save the share of each item, and what returned to the buyer, unless a newer event of the order is known.

    The event states all amounts of the order, so that no event is added up twice and a lost one is made good by the
    next. Raises OrderNotReceived.
    """
    # The lines and the order's own figure change together: the order's row is locked before them.
    line_totals = require_order(await sales.lock_line_totals(uow, order_id) or None, about=order_id)
    lines = divide_sale(sale, line_totals)
    return None if await sales.save_sale_lines(uow, lines, sale.sold_at, sequence) else Rejection.STALE
