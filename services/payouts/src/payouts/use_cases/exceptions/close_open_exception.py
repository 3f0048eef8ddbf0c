"""Close the exception that holds a payout."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.store import returns
from payouts.use_cases.exceptions.resolve_exception import resolve_exception


async def close_open_exception(
    uow: UnitOfWork,
    payout_id: UUID,
    reason: str,
    now: datetime,
    *,
    by: UUID | None = None,
    transfer_id: UUID | None = None,
) -> bool:
    """Close the exception of a settled payout; False when none was open, and while money of the payout is held: two
    people decide about it. The payout must be locked.

    With `transfer_id`, only an exception of this attempt: a success of the newest one explains nothing about an older
    one.
    """
    if await returns.is_held(uow, payout_id):
        return False
    exception = await store.lock_open_exception(uow, payout_id)
    if exception is None or transfer_id not in (None, exception.transfer_id):
        return False
    await resolve_exception(uow, exception, reason, now, by)
    return True
