"""Send one attempt to the gateway: decide and commit, call, record and commit."""

from typing import Literal
from uuid import UUID

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payouts import store
from payouts.clients.gateway import Gateway
from payouts.domain.dispatch import FIRST_ASK, wait_before_asking
from payouts.domain.gateway_answers import Absent, Refused, SubmitAnswer, Unclear
from payouts.domain.transfer_news import RANKS, News
from payouts.use_cases.record_news import record_news

_DETAILS_CHANGED = "bank_details_changed: the vendor's bank details changed before the gateway took the transfer"


async def submit_transfer(
    database: Database, gateway: Gateway, clock: Clock, transfer_id: UUID, *, was: Literal["reserved", "unknown"]
) -> None:
    """Whoever moves the attempt from `was` to `submitting` sends it; nobody else does. Always under the same reference.

    A time-out or a 5xx leaves it `unknown`. A refusal counts only after the gateway, asked, has no such transfer: it also
    refuses a reference that an earlier, lost call has used.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        submission = await store.begin_submission(uow, transfer_id, was=was, at=clock.now())
    if submission is None:
        return
    answer: SubmitAnswer = Refused(_DETAILS_CHANGED)
    if submission.details_stand:
        answer = await _send(database, gateway, transfer_id, submission)
    if isinstance(answer, Refused):
        answer = await _confirm_refusal(gateway, submission.reference, answer)
    await _record(database, clock, transfer_id, submission, answer)


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


async def _record(
    database: Database, clock: Clock, transfer_id: UUID, submission: store.Submission, answer: SubmitAnswer
) -> None:
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        if isinstance(answer, Unclear):
            if await store.leave_unknown(uow, transfer_id, answer.reason, now + wait_before_asking(0), now):
                uow.leave_work("payouts.transfers", transfer.reference, {"transferId": str(transfer_id)})
            return
        if isinstance(answer, Refused):
            news = News("call", "failed", submission.amount_minor, submission.currency, reason=answer.reason)
        else:
            news = answer.news
        await record_news(uow, transfer, news, now)
        # On its way: its webhook may be lost, so it is asked for after a while. At an end: nothing is left to ask.
        due_at = now + FIRST_ASK if RANKS[news.status] == 0 else None
        await store.plan_ask(uow, transfer_id, due_at, asked=False)
