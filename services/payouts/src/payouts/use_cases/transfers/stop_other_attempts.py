"""One attempt of a payout has arrived: the others must not."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.transfer_updates import LockedTransfer
from payouts.store import returns
from payouts.use_cases.exceptions.open_exception import open_exception


async def stop_other_attempts(uow: UnitOfWork, arrived: LockedTransfer, now: datetime) -> None:
    """Withdraws one that was never sent. One that is with the gateway cannot be stopped: people hear of it at once.

    The payout must be locked. It happens when an attempt that the gateway called failed, and that was reset, arrives after all.
    """
    reason = "withdrawn before it was sent: an earlier attempt arrived after all"
    await returns.withdraw_unsent_attempts(uow, arrived.payout_id, reason, now)
    for transfer_id in await returns.list_others_under_way(uow, arrived.payout_id, arrived.id):
        under_way = await store.lock_transfer(uow, transfer_id=transfer_id)
        if under_way is not None:
            detail = f"The attempt {arrived.reference} arrived while {under_way.reference} is under way: the money may leave twice."
            await open_exception(uow, under_way, "unclassified", detail, now)
