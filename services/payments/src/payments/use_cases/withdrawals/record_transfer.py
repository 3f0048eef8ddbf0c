"""Record the gateway's update about the transfer of a withdrawal."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from contracts.payments import WithdrawalPaid
from payments.domain import postings
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.refunds import FIRST_POLL_AFTER, RefundUpdate, check_refund, fee_to_post
from payments.domain.transitions import WITHDRAWAL
from payments.domain.withdrawals import poll_after_end, retake, trigger_of_transfer
from payments.store import balances, withdrawals
from payments.store.withdrawals import LockedWithdrawal
from payments.use_cases.alerts import alert_contradicted_withdrawal
from payments.use_cases.withdrawals.return_withdrawal import return_withdrawal


async def record_transfer(
    uow: UnitOfWork, withdrawal_id: UUID, update: RefundUpdate, now: datetime, *, is_polled: bool = False
) -> bool:
    """Return whether the update changed the withdrawal or its fee. A polled update is the gateway's present state.

    Raises RefundContradiction when the transfer is over another amount.
    """
    withdrawal = await withdrawals.lock_withdrawal(uow, withdrawal_id)
    if withdrawal is None:
        raise LookupError(f"withdrawal {withdrawal_id} is not recorded")
    check_refund(update, withdrawal.amount_minor, HOME_CURRENCY)
    has_new_fee = await _record_fee(uow, withdrawal, update, is_polled=is_polled)
    trigger = trigger_of_transfer(update, is_polled=is_polled)
    after = WITHDRAWAL.next_state(withdrawal.status, trigger)
    if isinstance(after, Rejection):
        if after is Rejection.STALE:
            STALE_EVENTS.labels(f"withdrawal.{update.status}").inc()
        if is_polled and withdrawal.ended_at is not None:
            await withdrawals.save_poll(uow, withdrawal.id, poll_after_end(withdrawal.ended_at, now))
        return has_new_fee
    if after == "submitted":
        await withdrawals.save_submitted(uow, withdrawal.id, now + FIRST_POLL_AFTER)
    elif after == "paid":
        await _settle(uow, withdrawal, now)
    elif trigger == "reported_paid":
        await withdrawals.save_poll(uow, withdrawal.id, now)
    else:
        await return_withdrawal(uow, withdrawal, "failed", update.failure or "the bank gave no reason", now)
    return True


async def _settle(uow: UnitOfWork, withdrawal: LockedWithdrawal, now: datetime) -> None:
    """Post the payment. Money that was returned before is taken from the balance again."""
    round_, parts, loss_minor = withdrawal.round, withdrawal.parts, withdrawal.loss_minor
    if withdrawal.status == "failed":
        round_ += 1
        available = await balances.lock_balance(uow, withdrawal.user_id)
        parts, loss_minor = retake(available, withdrawal.amount_minor)
        if parts.total_minor:
            await balances.record_withdrawal(uow, withdrawal.user_id, parts, now)
        await ledger.post(
            uow,
            postings.balance_withdrawal(
                withdrawal.id,
                round_,
                withdrawal.user_id,
                from_balance_minor=parts.total_minor,
                loss_minor=loss_minor,
            ),
        )
        alert_contradicted_withdrawal(uow, withdrawal.id, withdrawal.amount_minor, loss_minor)
    await ledger.post(uow, postings.withdrawal_settled(withdrawal.id, round_, withdrawal.amount_minor))
    due_at = poll_after_end(withdrawal.ended_at or now, now)
    await withdrawals.save_paid(uow, withdrawal.id, now, round_, parts.rewards_minor, loss_minor, due_at)
    uow.publish(
        WithdrawalPaid(
            withdrawal_id=withdrawal.id,
            user_id=withdrawal.user_id,
            amount_minor=withdrawal.amount_minor,
            account_last4=withdrawal.account_last4,
        )
    )


async def _record_fee(uow: UnitOfWork, withdrawal: LockedWithdrawal, update: RefundUpdate, *, is_polled: bool) -> bool:
    """Return whether the gateway's fee of the transfer is new or another one."""
    booked_minor = withdrawal.transfer_fee_minor
    fee_minor = fee_to_post(update, booked_minor, is_queried=is_polled)
    if fee_minor is None:
        return False
    await withdrawals.save_fee(uow, withdrawal.id, fee_minor)
    key = f"transfer_fee:{withdrawal.id}" if booked_minor is None else f"transfer_fee:{withdrawal.id}:{new_id()}"
    if added_minor := fee_minor - (booked_minor or 0):
        await ledger.post(uow, postings.transfer_fee(key, added_minor))
    return True
