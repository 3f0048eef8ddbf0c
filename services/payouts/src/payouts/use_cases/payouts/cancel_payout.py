"""Take back a payout that was never sent."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.domain.returns import check_cancellation
from payouts.store import returns
from payouts.use_cases.payouts.restitute_payout import restitute_payout

_REASON: Final = "cancelled by the vendor"


async def cancel_payout(uow: UnitOfWork, payout_id: UUID, vendor_id: UUID, by: UUID, now: datetime) -> None:
    """The amount is the wallet's again at once, and the payout `failed`; again: success without effect. Only as the service itself.

    Under the payout's lock: an attempt that is written down cannot begin to leave meanwhile, and is withdrawn. Raises NotFound (also
    for another vendor's), WasSent, PayoutNotPending and MoneyReturnedAlready (409).
    """
    payout = await returns.lock_payout_with_attempts(uow, payout_id)
    if payout is None or payout.vendor_id != vendor_id:
        raise NotFound
    if check_cancellation(payout):
        await restitute_payout(uow, payout_id, _REASON, now, cancelled=True)
        await returns.record_payout_action(uow, payout_id, None, "cancelled", by, _REASON, now)
