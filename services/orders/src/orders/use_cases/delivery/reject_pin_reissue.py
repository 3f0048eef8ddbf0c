"""Reject a prepared reissue of a delivery PIN."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from orders.store.pins import PIN_REISSUES
from orders.use_cases.delivery.steps import lock_reissued_order


async def reject_pin_reissue(uow: UnitOfWork, reissue_id: UUID, reason: str, *, by: Caller, now: datetime) -> None:
    """Reject the reissue: the PIN stays, and another reissue may be prepared.

    Raises NotFound, PartyCannotDecide (403), and the errors of `evaluate_rejection`.
    """
    await lock_reissued_order(uow, reissue_id, by)
    await PIN_REISSUES.reject(uow, reissue_id, by.id, now, reason)
