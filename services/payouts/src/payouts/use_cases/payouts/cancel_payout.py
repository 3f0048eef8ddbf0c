"""Cancel a payout that was never sent."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.domain.errors import PayoutHeld
from payouts.domain.returns import check_cancellation
from payouts.store import payout_holds, returns
from payouts.use_cases.payouts.steps import restitute_payout

_REASON: Final = "cancelled by the vendor"


async def cancel_payout(uow: UnitOfWork, payout_id: UUID, vendor_id: UUID, by: UUID, now: datetime) -> None:
    """Return the amount to the wallet at once; the payout becomes `failed`. A repetition has no effect. Acts as the
    service.

    Under the payout's lock no submission can start, and a reserved attempt is withdrawn. Raises NotFound (also for
    another vendor's payout), TransferAlreadySent, PayoutNotPending, AmountAlreadyReturned and
    PayoutHeld (409).
    """
    payout = await returns.lock_payout_with_attempts(uow, payout_id)
    if payout is None or payout.vendor_id != vendor_id:
        raise NotFound
    if check_cancellation(payout):
        if await payout_holds.is_held(uow, payout_id):
            raise PayoutHeld
        await restitute_payout(uow, payout_id, _REASON, now, cancelled=True)
        await returns.record_payout_action(uow, payout_id, None, "cancelled", by, _REASON, now)
