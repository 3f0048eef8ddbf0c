"""Send one attempt of a payout to its gateway, and record the result."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.attempts import (
    DETAILS_CHANGED,
    CallHistory,
    SubmittableStatus,
    check_submission,
    may_start_call,
    stays_unknown,
    update_after_call,
    update_after_contradiction,
    update_while_held,
)
from payouts.domain.dispatch import LEASE, PlanLine, hold_reason
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.gateway_results import Absent, Refused, Reported, SubmitResult, Unclear
from payouts.domain.returns import earlier_attempts_failed
from payouts.domain.transfer_updates import as_reversal, evaluate_update
from payouts.domain.transitions import UNDER_WAY
from payouts.store import payouts, returns, submissions, transfers
from payouts.use_cases.exceptions.steps import hold_payouts, open_exception
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors
from payouts.use_cases.transfers.steps import locking_transfer, query_attempts, record_update

_UNCONFIRMED: Final = "the gateway has not confirmed that the earlier attempts failed"


async def submit_transfer(
    database: Database, gateways: Gateways, clock: Clock, transfer_id: UUID, *, was: SubmittableStatus
) -> None:
    """Send the attempt, always under its reference, if this process moves it from `was` to `submitting`.

    Before each call of a later attempt the gateway confirms that the earlier ones failed: one may have been paid since
    its reset. After a timeout or a 5xx it is `unknown`. The gateway also rejects a reference that an earlier, lost call
    has used. So a rejection counts only when a query finds no such transfer, and no earlier call may still arrive.
    """
    submission = await _start_submission(database, gateways, clock, transfer_id, was)
    if isinstance(submission, _EarlierAttempts):
        if not await _confirm_failed_attempts(database, gateways, clock, submission.payout_id, transfer_id):
            return
        submission = await _start_submission(database, gateways, clock, transfer_id, was, is_confirmed=True)
    if not isinstance(submission, transfers.Submission):
        return
    gateway = gateways.of(submission.gateway)
    result: SubmitResult = Refused(DETAILS_CHANGED)
    recipient_code = None
    if submission.may_send:
        result, recipient_code = await _send(gateway, clock, submission)
    calls = submission.calls
    if isinstance(result, Refused):
        calls = replace(calls, refused=True, confirmed_at=clock.now())
        verified = await gateway.verify(submission.reference)
        result = result if isinstance(verified, Absent) else verified
    await _record(database, clock.now(), transfer_id, result, calls, recipient_code)


@dataclass(frozen=True, slots=True)
class _EarlierAttempts:
    """The payout has earlier attempts, whose failure the gateway must confirm first."""

    payout_id: UUID


async def _start_submission(
    database: Database,
    gateways: Gateways,
    clock: Clock,
    transfer_id: UUID,
    was: SubmittableStatus,
    *,
    is_confirmed: bool = False,
) -> transfers.Submission | _EarlierAttempts | None:
    """Mark the attempt `submitting`, with a lease, and returns the submission; None when this caller may not send it.

    Checked again under the payout's lock: a suspension, quarantine, restitution or wrong credit after the plan stops
    the attempt. An attempt that was never sent then waits for another dispatch, under its reference. One that was sent,
    and that the gateway does not have, fails only when no call of it can arrive. Nothing starts between a
    restore of the database and the end of its comparison, or while the gateway rejects our key: the lease runs out, and
    the worker claims the attempt again.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE, first=transfers.lock_statement(transfer_id)) as uow:
        now = clock.now()
        transfer, candidate, is_compared, is_key_rejected = await submissions.read_submission(uow, transfer_id, now)
        # Raises where the gateway has no key here.
        gateways.of(transfer.gateway)
        if transfer.attempt > 1 and not is_confirmed:
            return _EarlierAttempts(transfer.payout_id)
        if not is_compared or is_key_rejected:
            return None
        checks = await check_released_credits(uow, [transfer.vendor_id], now)
        await hold_vendors(uow, checks, now)
        candidate = replace(candidate, cover=checks[transfer.vendor_id].cover)
        reason = hold_reason(candidate)
        decision = check_submission(transfer, was, reason, now)
        if decision == "hold" and reason is not None:
            await transfers.hold_transfer(uow, transfer_id, reason, now)
            await payouts.skip_line(uow, transfer.batch_id, transfer.payout_id, reason)
            await hold_payouts(uow, [candidate], [PlanLine(transfer.payout_id, transfer.amount_minor, reason)], now)
        elif decision == "wait" and reason is not None:
            after = update_while_held(transfer, reason, now)
            await transfers.schedule_poll(uow, transfer_id, after.poll_at, polled=True)
            if after.opens is not None:
                await open_exception(uow, transfer, after.opens, after.reason, now)
        if decision not in ("send", "fail"):
            return None
        return await transfers.start_submission(uow, transfer, may_send=decision == "send", at=now)


async def _confirm_failed_attempts(
    database: Database, gateways: Gateways, clock: Clock, payout_id: UUID, transfer_id: UUID
) -> bool:
    """Return whether the last attempt, `transfer_id`, may be sent, also again after a call without a response. One that
    was paid after all completes the payout, and withdraws a reserved one.

    Otherwise that one is tried again later, and its row has the reason: the gateway gives no response, reports an
    attempt under way, or contradicts our record. An attempt that it no longer has opens an exception.
    """
    missing = None
    try:
        results = await query_attempts(database, gateways, clock, payout_id)
    except TransferMissingAtGateway as error:
        missing = error.explanation
    except (GatewayUnavailable, TransferContradicted):
        pass
    else:
        if not any(isinstance(result, Reported) and result.update.status in UNDER_WAY for result in results):
            async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
                payout = await returns.lock_payout_with_attempts(uow, payout_id)
            if payout is not None and earlier_attempts_failed(payout):
                return True
    now = clock.now()
    async with locking_transfer(database, transfer_id) as (uow, transfer):
        await returns.delay_retry(uow, transfer_id, _UNCONFIRMED, now + LEASE, now)
        if missing is not None:
            await open_exception(uow, transfer, "unclassified", missing, now)
    return False


async def _send(gateway: Gateway, clock: Clock, submission: transfers.Submission) -> tuple[SubmitResult, str | None]:
    """Return the result, and the gateway's code of the recipient. The code is for information: the reference identifies
    the transfer.
    """
    recipient_code = await gateway.create_recipient(submission.recipient)
    if not isinstance(recipient_code, str):
        return recipient_code, None
    if not may_start_call(submission.started_at, clock.now()):
        return Unclear("the lease ran out before the transfer was called for"), recipient_code
    return await gateway.transfer(submission.reference, recipient_code, submission.amount_minor), recipient_code


async def _record(
    database: Database,
    now: datetime,
    transfer_id: UUID,
    result: SubmitResult,
    calls: CallHistory,
    recipient_code: str | None,
) -> None:
    async with locking_transfer(database, transfer_id) as (uow, transfer):
        after = update_after_call(transfer, result, calls, now)
        if after is None or after.update is None:
            if recipient_code is not None:
                await transfers.save_recipient_code(uow, transfer_id, recipient_code)
            if after is not None and await transfers.mark_unknown(uow, transfer_id, after, now) and after.poll_now:
                uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer_id)})
            return
        contradicts = stays_unknown(transfer.status, evaluate_update(transfer, as_reversal(transfer, after.update)))
        poll = None if contradicts else transfers.Poll(after.poll_at, polled=False)
        await record_update(uow, transfer, after.update, now, poll=poll, recipient_code=recipient_code)
        if contradicts:
            await transfers.mark_unknown(uow, transfer_id, update_after_contradiction(transfer, now), now)
