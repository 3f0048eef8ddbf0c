"""Project the money of an order onto its items, in the statement of the order's transition."""

from common.database.unit_of_work import UnitOfWork
from orders.domain.sales import Sale, divide_sale
from orders.store import sales
from orders.store.orders import SoldOrder


async def project_sale_with_transition(uow: UnitOfWork, sold: SoldOrder, sale: Sale, sequence: int) -> None:
    """Save the shares as `project_sale` does, with the next write of the message; at once where they change the amount
    that the order shows as returned, because one statement changes the order's row once.
    """
    lines = divide_sale(sale, sold.line_totals_minor)
    if sum(line.refunded_minor for line in lines) == sold.order.refunded_minor:
        await sales.save_shown_sale_lines(uow, lines, sale.sold_at, sequence)
    else:
        await sales.save_sale_lines(uow, lines, sale.sold_at, sequence)
