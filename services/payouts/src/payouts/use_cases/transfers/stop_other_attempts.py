"""Stop the other attempts of a payout after one was paid."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.transfer_updates import LockedTransfer
from payouts.store import returns


async def stop_other_attempts(uow: UnitOfWork, arrived: LockedTransfer, now: datetime) -> None:
    """Withdraws attempts that were never sent. One at the gateway cannot be stopped: its money is held.

    The payout must be locked. It happens when a failed attempt is paid after a reset.
    """
    if not arrived.has_other_attempts:
        return
    reason = "withdrawn before it was sent: an earlier attempt arrived after all"
    await returns.withdraw_unsent_attempts(uow, arrived.payout_id, reason, now)
