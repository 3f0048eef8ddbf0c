"""Steps of transfers that several operations share."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.ledger.posting import Posting
from common.observability.telemetry import STALE_EVENTS
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.payouts import PayoutProcessed, PayoutSubmitted
from payouts.clients.gateway import Gateways
from payouts.domain import accounts
from payouts.domain.attempts import next_poll_at
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.gateway_results import Reported, Unclear, VerifyResult
from payouts.domain.payout_transitions import PAYOUT
from payouts.domain.transfer_fees import fee_to_post
from payouts.domain.transfer_updates import (
    LockedTransfer,
    TransferUpdate,
    as_reversal,
    consequences_of,
    may_be_paid_twice,
)
from payouts.domain.transitions import UNDER_WAY, Verdict
from payouts.store import returns, transfers
from payouts.store.documents import issue_remittance_later
from payouts.use_cases.exceptions.steps import close_open_exception, open_exception
from payouts.use_cases.payouts.steps import hold_contradicted, restitute_after_settlement


async def record_update(
    uow: UnitOfWork,
    transfer: LockedTransfer,
    update: TransferUpdate,
    now: datetime,
    *,
    poll: transfers.Poll | None = None,
    recipient_code: str | None = None,
) -> Verdict:
    """Record the observation and executes its consequences. The transfer and its payout must be locked (contract
    section 8). `poll` and the gateway's code of the recipient are saved with it.

    A failure or reversal opens an exception and moves neither money nor state: an operator decides. Where a quarantine
    awaits the end of the transfer, that decision was made before.
    """
    update = as_reversal(transfer, update)
    follows = consequences_of(transfer, update)
    fee_minor = fee_to_post(transfer, update)
    processes = follows.completes_payout and PAYOUT.allows(transfer.payout_status, "transfer_succeeded")
    events: list[PayoutSubmitted | PayoutProcessed] = []
    if follows.is_submitted:
        events.append(_about_payout(PayoutSubmitted, transfer))
    postings = [] if fee_minor is None else _fee_postings(transfer, fee_minor)
    if processes:
        # Moves the amount from in transit to gateway cash, once, and numbers the remittance.
        postings.append(accounts.payout_processed(transfer.payout_id, transfer.amount_minor))
        issue_remittance_later(uow, transfer.payout_id)
        events.append(_about_payout(PayoutProcessed, transfer))
    record = transfers.RecordedUpdate(
        update, follows.verdict, follows.sets_status, processes, fee_minor, recipient_code, poll
    )
    for event in events[:-1]:
        uow.publish(event)
    newest = events[-1] if events else None
    await transfers.record_observation(uow, transfer, record, now, postings=postings, event=newest)
    if follows.closes_exception and transfer.has_open_exception:
        await close_open_exception(
            uow, transfer.payout_id, "The gateway confirmed the transfer.", now, transfer_id=transfer.id
        )
    if follows.completes_payout:
        await _stop_other_attempts(uow, transfer, now)
    is_held = may_be_paid_twice(transfer, update) and await hold_contradicted(uow, transfer, now)
    if follows.opens is not None and not is_held:
        await open_exception(uow, transfer, follows.opens, follows.detail, now)
    if follows.needs_query:
        uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})
    if transfer.awaits_restitution:
        await restitute_after_settlement(uow, transfer, update, now)
    if follows.verdict == "stale":
        STALE_EVENTS.labels(f"transfer.{update.status}").inc()
    return follows.verdict


async def _stop_other_attempts(uow: UnitOfWork, arrived: LockedTransfer, now: datetime) -> None:
    """Withdraws attempts that were never sent. One at the gateway cannot be stopped: its money is held.

    The payout must be locked. It happens when a failed attempt is paid after a reset.
    """
    if not arrived.has_other_attempts:
        return
    reason = "withdrawn before it was sent: an earlier attempt arrived after all"
    await returns.withdraw_unsent_attempts(uow, arrived.payout_id, reason, now)


def _fee_postings(transfer: LockedTransfer, fee_minor: int) -> list[Posting]:
    """Return the posting of a fee that the gateway reports for the first time, or of the difference to the posted
    one.
    """
    added_minor = fee_minor - (transfer.fee_minor or 0)
    key = f"transfer_fee:{transfer.id}"
    if transfer.fee_minor is not None:
        key = f"{key}:{new_id()}"
    return [accounts.transfer_fee(key, added_minor)] if added_minor else []


def _about_payout(
    event: type[PayoutSubmitted] | type[PayoutProcessed], transfer: LockedTransfer
) -> PayoutSubmitted | PayoutProcessed:
    return event(
        payout_id=transfer.payout_id,
        vendor_id=transfer.vendor_id,
        amount_minor=transfer.amount_minor,
        reference=transfer.reference,
        number=transfer.number,
    )


async def query_attempts(
    database: Database, gateways: Gateways, clock: Clock, payout_id: UUID
) -> Sequence[VerifyResult]:
    """Query by reference, outside any transaction, records each result with its consequences, and returns them.

    A transfer that the gateway never accepted keeps its status. The records stay even when the caller's action is then
    refused. Raises GatewayUnavailable (503), TransferContradicted and TransferMissingAtGateway (409).
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        sent = await returns.list_sent_attempts(uow, payout_id)
    results = await asyncio.gather(*(gateways.of(attempt.gateway).verify(attempt.reference) for attempt in sent))
    if any(isinstance(result, Unclear) for result in results):
        raise GatewayUnavailable
    for attempt, result in zip(sent, results, strict=True):
        await _record_result(database, clock, attempt, result)
    return results


async def _record_result(database: Database, clock: Clock, attempt: returns.SentAttempt, result: VerifyResult) -> None:
    async with locking_transfer(database, attempt.id) as (uow, transfer):
        if await returns.was_contradicted_since(uow, attempt.id, attempt.last_position):
            # The result may be older than the contradiction, and is no response to it.
            raise TransferContradicted
        if isinstance(result, Reported):
            now, update = clock.now(), result.update
            ended = update.status not in UNDER_WAY
            poll = transfers.Poll(next_poll_at(transfer, update, now), polled=True) if ended else None
            await record_update(uow, transfer, update, now, poll=poll)
        elif await returns.was_accepted(uow, attempt.id):
            raise TransferMissingAtGateway


@asynccontextmanager
async def locking_transfer(database: Database, transfer_id: UUID) -> AsyncIterator[tuple[UnitOfWork, LockedTransfer]]:
    """Open a unit of work of the service that holds the locks of a transfer and its payout, and yield both."""
    async with database.unit_of_work(acting_as=THE_SERVICE, first=transfers.lock_statement(transfer_id)) as uow:
        yield uow, await transfers.read_transfer(uow, transfer_id)
