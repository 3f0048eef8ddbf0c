"""Hold a part of a buyer's balance for a payment."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.domain.errors import BalanceTooLow
from payments.store import balances


async def hold_balance(
    uow: UnitOfWork, intent_id: UUID, order_id: UUID, user_id: UUID, amount_minor: int, now: datetime, *, hold: int = 1
) -> None:
    """Hold rewards first, as the `hold`-th hold of the payment. Raises BalanceTooLow (409)."""
    available = await balances.lock_balance(uow, user_id)
    if amount_minor > available.total_minor:
        raise BalanceTooLow(available.total_minor)
    await balances.record_hold(uow, intent_id, order_id, user_id, available.split_off(amount_minor), now)
    await ledger.post(uow, postings.balance_hold(intent_id, hold, user_id, amount_minor))
