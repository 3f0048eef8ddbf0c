"""Return the money of a withdrawal to its balance."""

from datetime import datetime
from typing import Literal

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import WithdrawalReturned
from payments.domain import postings
from payments.domain.withdrawals import poll_after_end
from payments.store import balances, withdrawals
from payments.store.withdrawals import LockedWithdrawal


async def return_withdrawal(
    uow: UnitOfWork, withdrawal: LockedWithdrawal, status: Literal["failed", "rejected"], reason: str, now: datetime
) -> None:
    """End the locked withdrawal and credit what the balance had borne of it. A paid one was reversed by the bank."""
    is_reversed, parts = withdrawal.status == "paid", withdrawal.parts
    ended_at = withdrawal.ended_at or (now if status == "failed" else None)
    due_at = None if ended_at is None else poll_after_end(ended_at, now)
    if is_reversed and withdrawal.transfer_fee_minor:
        # The gateway may have returned its fee with the money, which only a query reports.
        due_at = now
    await withdrawals.save_ended(uow, withdrawal.id, status, reason, ended_at, due_at)
    if parts.total_minor:
        await balances.record_credit(uow, withdrawal.user_id, "returned", parts, now)
    await ledger.post(
        uow,
        postings.withdrawal_returned(
            withdrawal.id,
            withdrawal.round,
            withdrawal.user_id,
            to_balance_minor=parts.total_minor,
            loss_minor=withdrawal.loss_minor,
            is_reversed=is_reversed,
        ),
    )
    if parts.total_minor:
        uow.publish(
            WithdrawalReturned(
                withdrawal_id=withdrawal.id,
                user_id=withdrawal.user_id,
                amount_minor=parts.total_minor,
                account_last4=withdrawal.account_last4,
            )
        )
