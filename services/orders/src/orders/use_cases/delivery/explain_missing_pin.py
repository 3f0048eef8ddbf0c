"""Explain why an order has no delivery PIN."""

from typing import NoReturn
from uuid import UUID

from common.database.unit_of_work import Reads
from common.primitives.problems import NotFound
from orders.domain.pins import missing_pin_error
from orders.store import orders


async def explain_missing_pin(reads: Reads, order_id: UUID, caller_id: UUID) -> NoReturn:
    """Raise the reason for the order's buyer (409), NotFound for everyone else."""
    order = await orders.find_order(reads, order_id)
    if order is None or order.buyer_id != caller_id:
        raise NotFound
    raise missing_pin_error(order.status)
