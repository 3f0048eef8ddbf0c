"""Stop the other attempts of a payout after one was paid."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.transfer_updates import LockedTransfer
from payouts.store import returns
from payouts.use_cases.exceptions.open_exception import open_exception


async def stop_other_attempts(uow: UnitOfWork, arrived: LockedTransfer, now: datetime) -> None:
    """Withdraws attempts that were never sent. One at the gateway cannot be stopped: an exception opens at once.

    The payout must be locked. It happens when a failed attempt is paid after a reset.
    """
    if not arrived.has_other_attempts:
        return
    reason = "withdrawn before it was sent: an earlier attempt arrived after all"
    await returns.withdraw_unsent_attempts(uow, arrived.payout_id, reason, now)
    for transfer_id in await returns.list_others_under_way(uow, arrived.payout_id, arrived.id):
        under_way = await store.lock_transfer(uow, transfer_id=transfer_id)
        if under_way is not None:
            detail = f"The attempt {arrived.reference} arrived while {under_way.reference} is under way: the money may leave twice."
            await open_exception(uow, under_way, "unclassified", detail, now)
