"""Return the hold of a payment that ended without it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.store import balances


async def return_hold(uow: UnitOfWork, intent_id: UUID, now: datetime) -> bool:
    """Return whether the payment held anything until now."""
    hold = await balances.lock_hold(uow, intent_id)
    if hold is None or hold.status != "held":
        return False
    uow.require_alone()
    await balances.save_hold_returned(uow, intent_id, now)
    await balances.record_return(uow, hold, hold.parts, now)
    posting = postings.balance_returned(intent_id, hold.hold_count, hold.user_id, hold.parts.total_minor)
    return await ledger.post(uow, posting)
