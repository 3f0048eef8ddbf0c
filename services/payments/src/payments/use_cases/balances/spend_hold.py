"""Spend the hold of a payment on its orders."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.domain.balances import Parts, share_hold
from payments.store import balances
from payments.store.balances import Hold
from payments.use_cases.balances.hold_balance import hold_balance


async def spend_hold(
    uow: UnitOfWork, hold: Hold, amount_minor: int, totals_minor: Mapping[UUID, int], now: datetime
) -> dict[UUID, Parts]:
    """Return the part of each order that the balance pays, after its posting to their escrows.

    A returned amount is held again, and what the orders do not need is returned.
    """
    if hold.status != "held":
        if not amount_minor:
            return {}
        again = hold.hold_count + 1
        await hold_balance(uow, hold.intent_id, hold.order_id, hold.user_id, amount_minor, now, hold=again)
        held = await balances.lock_hold(uow, hold.intent_id)
        if held is None:
            raise LookupError(f"the hold of payment {hold.intent_id} does not exist")
        hold = held
    spent = hold.parts.split_off(amount_minor)
    rest = hold.parts.minus(spent)
    if rest.total_minor:
        await balances.record_return(uow, hold, rest, now)
        posting = postings.balance_returned(hold.intent_id, hold.hold_count, hold.user_id, rest.total_minor)
        await ledger.post(uow, posting)
    await balances.save_hold_spent(uow, hold, spent, now)
    shares = share_hold(spent, totals_minor)
    amounts = {order_id: share.total_minor for order_id, share in shares.items()}
    await ledger.post(uow, postings.balance_spent(hold.intent_id, amounts))
    return shares
