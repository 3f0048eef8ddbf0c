"""Claim a transfer attempt for submission if it is still eligible."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.attempts import SubmittableStatus, check_submission, update_while_held
from payouts.domain.dispatch import PlanLine, hold_reason
from payouts.domain.gateway_faults import key_alert
from payouts.store import found_transfers, open_alerts
from payouts.use_cases.exceptions.hold_payouts import hold_payouts
from payouts.use_cases.exceptions.open_exception import open_exception
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors


async def start_submission(
    uow: UnitOfWork, gateway: str, transfer_id: UUID, was: SubmittableStatus, now: datetime
) -> store.Submission | None:
    """Mark the attempt `submitting`, with a lease, and returns the submission; None when this caller may not send it.

    Checked again under the payout's lock: a suspension, quarantine, restitution or wrong credit after the plan stops
    the attempt. An attempt that was never sent then waits for another dispatch, under its reference. One that was sent,
    and that the gateway does not have, fails only when no call of it can arrive. Nothing starts between a
    restore of the database and the end of its comparison, or while the gateway rejects our key: the lease runs out, and
    the worker claims the attempt again.
    """
    if not await found_transfers.transfers_are_compared(uow) or await open_alerts.is_open(uow, key_alert(gateway)):
        return None
    transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
    if transfer is None:
        raise AssertionError("a transfer is never removed")
    checks = await check_released_credits(uow, [transfer.vendor_id], now)
    await hold_vendors(uow, checks, now)
    covers = {transfer.vendor_id: checks[transfer.vendor_id].cover}
    [candidate] = await store.list_candidates(uow, [transfer.payout_id], covers, now)
    reason = hold_reason(candidate)
    decision = check_submission(transfer, was, reason, now)
    if decision == "hold" and reason is not None:
        await store.hold_transfer(uow, transfer_id, reason, now)
        await store.skip_line(uow, transfer.batch_id, transfer.payout_id, reason)
        await hold_payouts(uow, [candidate], [PlanLine(transfer.payout_id, transfer.amount_minor, reason)], now)
    elif decision == "wait" and reason is not None:
        after = update_while_held(transfer, reason, now)
        await store.schedule_poll(uow, transfer_id, after.poll_at, polled=True)
        if after.opens is not None:
            await open_exception(uow, transfer, after.opens, after.reason, now)
    if decision not in ("send", "fail"):
        return None
    return await store.start_submission(uow, transfer, may_send=decision == "send", at=now)
