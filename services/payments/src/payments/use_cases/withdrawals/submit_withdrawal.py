"""Submit a withdrawal to the gateway: decide and commit, call, record. A query resolves a call without a response."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.lifecycles import Rejection
from payments.clients.gateway import GatewayRejected, Gateways
from payments.domain.errors import WithdrawalOutcomeUnknown, WithdrawalUnderWay
from payments.domain.identifiers import withdrawal_reference
from payments.domain.refunds import RESUBMIT_AFTER, RefundUpdate, may_call, next_poll_after, refund_of_transfer
from payments.domain.transitions import WITHDRAWAL
from payments.domain.withdrawals import poll_after_end
from payments.store import withdrawals
from payments.store.withdrawals import LockedWithdrawal
from payments.use_cases.withdrawals.record_transfer import record_transfer
from payments.use_cases.withdrawals.return_withdrawal import return_withdrawal


async def submit_withdrawal(database: Database, gateways: Gateways, clock: Clock, withdrawal_id: UUID) -> bool:
    """Return whether the withdrawal changed. Safe to repeat, for one that was sent and for one that ended.

    Raises GatewayUnavailable, GatewayRejected and WithdrawalOutcomeUnknown, which are retried, and RefundContradiction.
    """
    decided_at = clock.now()
    found = await _claim(database, clock, withdrawal_id)
    if found is None:
        return False
    withdrawal, is_claimed = found
    gateway, update = gateways.of(withdrawal.gateway), None
    if not is_claimed:
        update = await _query(gateways, withdrawal)
        if update is None:
            if withdrawal.status != "submitting":
                await _end_poll(database, clock, withdrawal)
                return False
            decided_at = await _claim_again(database, clock, withdrawal)
    if update is None:
        if not may_call(decided_at, clock.now()):
            raise WithdrawalOutcomeUnknown("the call comes too late after the decision: it is queried first")
        try:
            update = refund_of_transfer(
                await gateway.start_transfer(
                    reference=withdrawal_reference(withdrawal.id),
                    recipient_code=withdrawal.recipient_code,
                    amount_minor=withdrawal.amount_minor,
                )
            )
        except GatewayRejected as rejection:
            # The gateway may have rejected a repetition of an earlier call of ours.
            update = await _query(gateways, withdrawal)
            if update is None:
                return await _record_rejection(database, clock, withdrawal, str(rejection))
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await record_transfer(uow, withdrawal.id, update, clock.now(), is_polled=True)


async def _claim(database: Database, clock: Clock, withdrawal_id: UUID) -> tuple[LockedWithdrawal, bool] | None:
    """Return the withdrawal, and whether it is now `submitting` by this call; None when nothing is to be done."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        withdrawal = await withdrawals.lock_withdrawal(uow, withdrawal_id)
        if withdrawal is None:
            raise LookupError(f"work item of withdrawal {withdrawal_id}, which is not recorded")
        now = clock.now()
        after = WITHDRAWAL.next_state(withdrawal.status, "sent")
        if not isinstance(after, Rejection):
            await withdrawals.save_submitting(uow, withdrawal_id, now, now + RESUBMIT_AFTER)
            return withdrawal, True
        if after is Rejection.STALE and withdrawal.due_at is None:
            return None
        # Recorded before the call, so that the delays grow also while the gateway is unavailable.
        await withdrawals.save_poll(uow, withdrawal_id, now + next_poll_after(withdrawal.poll_count))
        return withdrawal, False


async def _claim_again(database: Database, clock: Clock, sent: LockedWithdrawal) -> datetime:
    """Return the time from which the same transfer may be sent again: its last call did not reach the gateway.

    Raises WithdrawalUnderWay while that call may be running, and when another worker sends it again.
    """
    now = clock.now()
    if sent.submitted_at is None or now - sent.submitted_at < RESUBMIT_AFTER:
        raise WithdrawalUnderWay("an unanswered call may still be running at the gateway")
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await withdrawals.save_sent_again(uow, sent, now, now + RESUBMIT_AFTER):
            raise WithdrawalUnderWay("another worker sends it again")
    return now


async def _query(gateways: Gateways, withdrawal: LockedWithdrawal) -> RefundUpdate | None:
    """Return the state of the withdrawal's transfer; None when the gateway has none."""
    transfer = await gateways.of(withdrawal.gateway).find_transfer(withdrawal_reference(withdrawal.id))
    return None if transfer is None else refund_of_transfer(transfer)


async def _end_poll(database: Database, clock: Clock, withdrawal: LockedWithdrawal) -> None:
    """Schedule the next query of an ended withdrawal whose transfer the gateway never had."""
    if withdrawal.ended_at is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await withdrawals.save_poll(uow, withdrawal.id, poll_after_end(withdrawal.ended_at, clock.now()))


async def _record_rejection(database: Database, clock: Clock, sent: LockedWithdrawal, rejection: str) -> bool:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        withdrawal = await withdrawals.lock_withdrawal(uow, sent.id)
        if withdrawal is None or not WITHDRAWAL.allows(withdrawal.status, "rejected_by_gateway"):
            return False
        await return_withdrawal(uow, withdrawal, "failed", rejection, clock.now())
        return True
