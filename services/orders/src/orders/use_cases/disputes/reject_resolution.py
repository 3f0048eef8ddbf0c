"""Reject a resolution of a dispute."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.store import disputes, orders
from orders.use_cases.disputes.steps import check_not_party


async def reject_resolution(uow: UnitOfWork, resolution_id: UUID, order_id: UUID, *, by: Caller, now: datetime) -> None:
    """Reject the resolution: the order stays disputed, and another resolution may be prepared.

    Raises NotFound, PartyCannotDecide (403), and the errors of `evaluate_rejection`.
    """
    order = await orders.lock_order(uow, order_id)
    resolution = await disputes.lock_resolution(uow, resolution_id)
    if order is None or resolution is None:
        raise NotFound
    check_not_party(by, order)
    await disputes.TABLE.reject(uow, resolution.id, resolution.decision, by.id, now)
