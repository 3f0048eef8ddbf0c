"""Send one attempt to the gateway: decide and commit, call, record and commit."""

from uuid import UUID

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payouts import store
from payouts.clients.gateway import Gateway
from payouts.domain.attempts import DETAILS_CHANGED, Before, after_call, is_open_after_contradiction
from payouts.domain.dispatch import wait_before_asking
from payouts.domain.gateway_answers import Absent, Refused, SubmitAnswer
from payouts.use_cases.begin_submission import begin_submission
from payouts.use_cases.record_news import record_news


async def submit_transfer(
    database: Database, gateway: Gateway, clock: Clock, transfer_id: UUID, *, was: Before
) -> None:
    """Whoever moves the attempt from `was` to `submitting` sends it; nobody else does. Always under the same reference.

    A time-out or a 5xx leaves it `unknown`. A refusal counts only after the gateway, asked, has no such transfer: it also
    refuses a reference that an earlier, lost call has used.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        submission = await begin_submission(uow, transfer_id, was, clock.now())
    if submission is None:
        return
    answer: SubmitAnswer = Refused(DETAILS_CHANGED)
    if submission.may_go:
        answer = await _send(database, gateway, transfer_id, submission)
    if isinstance(answer, Refused):
        answer = await _confirm_refusal(gateway, submission.reference, answer)
    await _record(database, clock, transfer_id, answer)


async def _send(database: Database, gateway: Gateway, transfer_id: UUID, submission: store.Submission) -> SubmitAnswer:
    recipient_code = await gateway.create_recipient(submission.recipient)
    if not isinstance(recipient_code, str):
        return recipient_code
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await store.save_recipient_code(uow, transfer_id, recipient_code)
    return await gateway.transfer(submission.reference, recipient_code, submission.amount_minor)


async def _confirm_refusal(gateway: Gateway, reference: str, refused: Refused) -> SubmitAnswer:
    standing = await gateway.verify(reference)
    return refused if isinstance(standing, Absent) else standing


async def _record(database: Database, clock: Clock, transfer_id: UUID, answer: SubmitAnswer) -> None:
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        after = after_call(transfer, answer, now)
        if after.is_unknown:
            if await store.leave_unknown(uow, transfer_id, after.reason, after.ask_at, now):
                uow.leave_work("payouts.transfers", transfer.reference, {"transferId": str(transfer_id)})
            return
        if after.news is None:
            raise AssertionError("a call that ended with an answer has news")
        verdict = await record_news(uow, transfer, after.news, now)
        if is_open_after_contradiction(transfer.status, verdict):
            await store.leave_unknown(
                uow, transfer_id, "the answer contradicts the books", now + wait_before_asking(0), now
            )
            return
        await store.plan_ask(uow, transfer_id, after.ask_at, asked=False)
