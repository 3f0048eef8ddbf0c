"""Orders to pack. The view `packing_orders` decides what a packer reads, and has no amount (decision 206)."""

from typing import Final, get_args
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Reads, UnitOfWork
from common.web.pages import CursorPage, CursorRequest, cursor_page, position_in_time
from orders.domain.packing_orders import PackingStatus
from orders.responses.packing_orders import PackingOrder

_ONE: Final = "SELECT * FROM packing_orders WHERE id = $1"
# The service reads every order: the view of a packer has none that is disputed.
_CHANGED: Final = "SELECT * FROM orders_to_pack WHERE id = $1"
_WAS_CHANGED_BY: Final = """
SELECT EXISTS (
    SELECT FROM orders JOIN order_history ON order_history.order_id = orders.id
    WHERE orders.id = $1 AND orders.vendor_id = $2 AND order_history.actor_id = $3
)
"""
_PAGE: Final = """
SELECT * FROM packing_orders
WHERE status = ANY ($1::text[]) AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3::uuid))
ORDER BY created_at, id LIMIT $4
"""
_SHOWN: Final = get_args(PackingStatus)
_TO_DO: Final = ("paid_escrow", "dispatched")


async def page_of_packing_orders(
    reads: Reads, requested: CursorRequest, caller: Caller, status: PackingStatus | None
) -> CursorPage[PackingOrder]:
    """Return one page of the orders of the caller's shop, oldest first; without a status those to pack and on their
    way.
    """
    statuses = _TO_DO if status is None else (status,)
    scope = ["packing-orders", *statuses, caller.id]
    after = requested.time_position(scope) or (None, None)
    records = await reads.fetch(_PAGE, list(statuses), *after, requested.limit + 1)
    return cursor_page(
        requested,
        scope,
        records,
        position_of=lambda record: position_in_time(record["created_at"], record["id"]),
        item_of=PackingOrder.from_row,
    )


async def find_packing_order(reads: Reads, order_id: UUID) -> PackingOrder | None:
    """Return the order for the caller; None when it is absent or invisible."""
    record = await reads.fetch_row(_ONE, order_id)
    return None if record is None else PackingOrder.from_row(record)


async def find_changed_packing_order(uow: UnitOfWork, order_id: UUID) -> PackingOrder | None:
    """Return the order as the service's own transaction changed it. Later changes do not hide it from the response.

    A repeated verification returns a disputed or refunded order as delivered, as it did before.
    """
    record = await uow.fetch_row(_CHANGED, order_id)
    if record is None:
        return None
    status = record["status"] if record["status"] in _SHOWN else "delivered"
    return PackingOrder.from_row({**record, "status": status})


async def was_changed_by_packer(uow: UnitOfWork, order_id: UUID, caller: Caller) -> bool:
    """Return whether the caller dispatched this order of their shop, or entered its PIN."""
    return bool(await uow.fetch_value(_WAS_CHANGED_BY, order_id, caller.packing_vendor_id, caller.id))
