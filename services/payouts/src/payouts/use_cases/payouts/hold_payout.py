"""Hold one payout: dispatch skips it until its release."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.payouts import PayoutDelayed
from payouts.domain.errors import PayoutHeld
from payouts.domain.returns import check_hold
from payouts.store import payout_holds, returns


async def hold_payout(uow: UnitOfWork, payout_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Hold a pending payout and notify its vendor. Under its lock no submission can start.

    Raises NotFound, PayoutNotPending, TransferUnderWay and PayoutHeld (409).
    """
    payout = await returns.lock_payout_with_attempts(uow, payout_id)
    if payout is None:
        raise NotFound
    check_hold(payout)
    number = await payout_holds.save_hold_if_new(uow, new_id(), payout, reason, by, now)
    if number is None:
        raise PayoutHeld
    uow.publish(
        PayoutDelayed(
            payout_id=payout_id,
            vendor_id=payout.vendor_id,
            amount_minor=payout.amount_minor,
            cause="held",
            number=number,
        )
    )
