"""Ask the gateway what became of a transfer."""

from uuid import UUID

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payouts import store
from payouts.clients.gateway import Gateway
from payouts.domain.dispatch import ASKS_BEFORE_EXCEPTION, FIRST_ASK, wait_before_asking
from payouts.domain.gateway_answers import Absent, Told, VerifyAnswer
from payouts.domain.transfer_news import OURS, RANKS, TransferInHand
from payouts.use_cases.open_exception import open_exception
from payouts.use_cases.record_news import record_news
from payouts.use_cases.submit_transfer import submit_transfer


async def settle_transfer(database: Database, gateway: Gateway, clock: Clock, transfer_id: UUID) -> None:
    """Asks by reference and records the answer. What the gateway never accepted is sent again under the same reference."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await store.find_transfer(uow, transfer_id)
    if found is None:
        raise AssertionError("a transfer is never removed")
    reference, status = found
    if status in OURS and status != "unknown":
        # Its dispatcher is at work, or its lease will bring it back.
        return
    answer = await gateway.verify(reference)
    if isinstance(answer, Absent) and status == "unknown":
        await submit_transfer(database, gateway, clock, transfer_id, was="unknown")
        return
    await _record(database, clock, transfer_id, answer)


async def _record(database: Database, clock: Clock, transfer_id: UUID, answer: VerifyAnswer) -> None:
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        wait = wait_before_asking(transfer.asks)
        if isinstance(answer, Told):
            await record_news(uow, transfer, answer.news, now)
            due_at = now + max(wait, FIRST_ASK) if RANKS[answer.news.status] == 0 else None
            await store.plan_ask(uow, transfer_id, due_at, asked=True)
            return
        await store.plan_ask(uow, transfer_id, now + wait, asked=True)
        if isinstance(answer, Absent):
            detail = "The gateway accepted this transfer before and now knows no such reference."
            await open_exception(uow, transfer, "unclassified", detail, now)
        elif _has_waited_long(transfer):
            detail = f"The gateway has not said what became of the transfer: {answer.reason}."
            await open_exception(uow, transfer, "timeout", detail, now)


def _has_waited_long(transfer: TransferInHand) -> bool:
    return transfer.status == "unknown" and transfer.asks + 1 >= ASKS_BEFORE_EXCEPTION
