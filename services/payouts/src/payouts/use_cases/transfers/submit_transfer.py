"""Send one attempt to the gateway: decide and commit, call, record and commit."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts import store
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.attempts import (
    DETAILS_CHANGED,
    CallHistory,
    SubmittableStatus,
    may_start_call,
    stays_unknown,
    update_after_call,
    update_after_contradiction,
)
from payouts.domain.gateway_results import Absent, Refused, SubmitResult, Unclear
from payouts.use_cases.transfers.confirm_failed_attempts import confirm_failed_attempts
from payouts.use_cases.transfers.record_update import record_update
from payouts.use_cases.transfers.start_submission import start_submission


async def submit_transfer(
    database: Database, gateways: Gateways, clock: Clock, transfer_id: UUID, *, was: SubmittableStatus
) -> None:
    """Send the attempt, always under its reference, if this process moves it from `was` to `submitting`.

    Before each call of a later attempt the gateway confirms that the earlier ones failed: one may have been paid since its
    reset.
    After a timeout or a 5xx it is `unknown`. The gateway also rejects a reference that an earlier, lost call has used. So
    a rejection counts only when a query finds no such transfer, and no earlier call may still arrive.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await store.find_transfer(uow, transfer_id)
        if found is None:
            raise AssertionError("a transfer is never removed")
        gateway = gateways.of(found.gateway)
        follows = found.attempt > 1
        submission = None if follows else await start_submission(uow, gateway.name, transfer_id, was, clock.now())
    if follows and await confirm_failed_attempts(database, gateways, clock, found.payout_id, transfer_id):
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            submission = await start_submission(uow, gateway.name, transfer_id, was, clock.now())
    if submission is None:
        return
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


async def _send(gateway: Gateway, clock: Clock, submission: store.Submission) -> tuple[SubmitResult, str | None]:
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
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        if recipient_code is not None:
            await store.save_recipient_code(uow, transfer_id, recipient_code)
        after = update_after_call(transfer, result, calls, now)
        if after is None:
            return
        if after.is_unknown:
            is_marked = await store.mark_unknown(uow, transfer_id, after, now)
            if is_marked and after.poll_now:
                uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer_id)})
            return
        if after.update is None:
            raise AssertionError("a call that ended with a result has an update")
        verdict = await record_update(uow, transfer, after.update, now)
        if stays_unknown(transfer.status, verdict):
            await store.mark_unknown(uow, transfer_id, update_after_contradiction(transfer, now), now)
            return
        await store.schedule_poll(uow, transfer_id, after.poll_at, polled=False)
