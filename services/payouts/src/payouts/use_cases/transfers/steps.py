"""Steps of transfers that several operations share."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.payouts import PayoutProcessed, PayoutRequested, PayoutSubmitted
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain import accounts
from payouts.domain.attempts import (
    DETAILS_CHANGED,
    CallHistory,
    SubmittableStatus,
    check_submission,
    may_start_call,
    next_poll_at,
    stays_unknown,
    update_after_call,
    update_after_contradiction,
    update_while_held,
)
from payouts.domain.dispatch import LEASE, PlanLine, hold_reason
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.found_transfers import Candidate, ListedTransfer, may_be_recorded, may_have_sent
from payouts.domain.gateway_faults import key_alert
from payouts.domain.gateway_results import Absent, Refused, Reported, SubmitResult, Unclear, VerifyResult
from payouts.domain.gateways import GatewayName
from payouts.domain.returns import earlier_attempts_failed
from payouts.domain.transfer_fees import fee_to_post
from payouts.domain.transfer_updates import (
    LockedTransfer,
    TransferUpdate,
    as_reversal,
    consequences_of,
    may_be_paid_twice,
)
from payouts.domain.transitions import UNDER_WAY, Verdict
from payouts.domain.wallet import WalletLine
from payouts.store import found_transfers, open_alerts, payouts, returns, transfers, wallets
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.exceptions.steps import close_open_exception, hold_payouts, open_exception
from payouts.use_cases.payouts.steps import hold_contradicted, restitute_after_settlement
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors
from payouts.use_cases.wallets.steps import debit_wallet


async def record_found_transfer(
    database: Database,
    gateways: Gateways,
    gateway: GatewayName,
    numbers: AccountNumbers,
    found: ListedTransfer,
    now: datetime,
) -> UUID | None:
    """Return the recorded attempt; None when staff must assign the transfer, or when it was recorded before.

    It becomes the attempt of a pending payout of its vendor and amount, unless another attempt may have paid that one.
    Without such a payout, the request was lost in the restore: the payout is recorded again, and what the wallet lacks
    becomes debt. Raises GatewayUnavailable.
    """
    if not may_be_recorded(found):
        await _record_open_case(database, found, now)
        return None
    fingerprint = numbers.fingerprint(found.bank_code, found.account_number)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        owners = await found_transfers.list_owners(uow, fingerprint, found.account_number, found.bank_code)
    if len(owners) != 1:
        await _record_open_case(database, found, now)
        return None
    [(vendor_id, version_id)] = owners
    candidate = await _find_candidate(database, gateways, vendor_id, found.amount_minor)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.lock_comparison(uow)
        if await found_transfers.is_known(uow, found.reference):
            return None
        transfer_id = new_id()
        if candidate is not None and await found_transfers.lock_candidate(uow, candidate):
            payout_id, retry_count = candidate.payout_id, candidate.retry_count_after
        else:
            payout_id, retry_count = await _recreate_payout(uow, vendor_id, version_id, found, now), 0
        await found_transfers.save_found_attempt(
            uow, payout_id, retry_count, transfer_id, found.reference, now, gateway
        )
        await found_transfers.save_found(uow, found, "taken", payout_id, now)
    return transfer_id


async def _find_candidate(
    database: Database, gateways: Gateways, vendor_id: UUID, amount_minor: int
) -> Candidate | None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        candidates = await found_transfers.list_candidates(uow, vendor_id, amount_minor)
    for candidate in candidates:
        results = [await gateways.of(name).verify(reference) for reference, name in candidate.attempts]
        if any(isinstance(result, Unclear) for result in results):
            raise GatewayUnavailable
        if may_have_sent(candidate, results):
            return candidate
    return None


async def _recreate_payout(
    uow: UnitOfWork, vendor_id: UUID, version_id: UUID, found: ListedTransfer, now: datetime
) -> UUID:
    wallet = await wallets.lock_wallet(uow, vendor_id)
    payout_id, by = new_id(), await found_transfers.find_owner(uow, vendor_id) or vendor_id
    number = await payouts.save_payout(uow, payout_id, vendor_id, found.amount_minor, version_id, by, now)
    line = WalletLine("payout", -found.amount_minor, payout_id=payout_id)
    posting_of = partial(accounts.payout_requested, payout_id, vendor_id, found.amount_minor)
    await debit_wallet(uow, vendor_id, wallet, f"payout:{payout_id}", line, posting_of, now)
    uow.publish(
        PayoutRequested(payout_id=payout_id, vendor_id=vendor_id, amount_minor=found.amount_minor, number=number)
    )
    return payout_id


async def _record_open_case(database: Database, found: ListedTransfer, now: datetime) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.save_found(uow, found, "open", None, now)


async def start_submission(
    uow: UnitOfWork, gateway: str, transfer_id: UUID, was: SubmittableStatus, now: datetime
) -> transfers.Submission | None:
    """Mark the attempt `submitting`, with a lease, and returns the submission; None when this caller may not send it.

    Checked again under the payout's lock: a suspension, quarantine, restitution or wrong credit after the plan stops
    the attempt. An attempt that was never sent then waits for another dispatch, under its reference. One that was sent,
    and that the gateway does not have, fails only when no call of it can arrive. Nothing starts between a
    restore of the database and the end of its comparison, or while the gateway rejects our key: the lease runs out, and
    the worker claims the attempt again.
    """
    if not await found_transfers.transfers_are_compared(uow) or await open_alerts.is_open(uow, key_alert(gateway)):
        return None
    transfer = await transfers.lock_transfer(uow, transfer_id=transfer_id)
    if transfer is None:
        raise AssertionError("a transfer is never removed")
    checks = await check_released_credits(uow, [transfer.vendor_id], now)
    await hold_vendors(uow, checks, now)
    covers = {transfer.vendor_id: checks[transfer.vendor_id].cover}
    [candidate] = await payouts.list_candidates(uow, [transfer.payout_id], covers, now)
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


async def stop_other_attempts(uow: UnitOfWork, arrived: LockedTransfer, now: datetime) -> None:
    """Withdraws attempts that were never sent. One at the gateway cannot be stopped: its money is held.

    The payout must be locked. It happens when a failed attempt is paid after a reset.
    """
    if not arrived.has_other_attempts:
        return
    reason = "withdrawn before it was sent: an earlier attempt arrived after all"
    await returns.withdraw_unsent_attempts(uow, arrived.payout_id, reason, now)


async def record_update(uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate, now: datetime) -> Verdict:
    """Record the observation and executes its consequences. The transfer and its payout must be locked (contract
    section 8).

    A failure or reversal opens an exception and moves neither money nor state: an operator decides. Where a quarantine
    awaits the end of the transfer, that decision was made before.
    """
    update = as_reversal(transfer, update)
    follows = consequences_of(transfer, update)
    await transfers.record_observation(uow, transfer.id, update, follows.verdict, now)
    if follows.sets_status:
        await transfers.save_transfer_status(uow, transfer, update, now)
    await _post_fee(uow, transfer, update, now)
    if follows.is_submitted:
        uow.publish(_about_payout(PayoutSubmitted, transfer))
    if follows.completes_payout:
        await _complete_payout(uow, transfer, now)
    if follows.closes_exception:
        await close_open_exception(
            uow, transfer.payout_id, "The gateway confirmed the transfer.", now, transfer_id=transfer.id
        )
    if follows.completes_payout:
        await stop_other_attempts(uow, transfer, now)
    is_held = may_be_paid_twice(transfer, update) and await hold_contradicted(uow, transfer, now)
    if follows.opens is not None and not is_held:
        await open_exception(uow, transfer, follows.opens, follows.detail, now)
    if follows.needs_query:
        uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})
    await restitute_after_settlement(uow, transfer, update, now)
    if follows.verdict == "stale":
        STALE_EVENTS.labels(f"transfer.{update.status}").inc()
    return follows.verdict


async def _post_fee(uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate, now: datetime) -> None:
    """Post a fee that the gateway reports for the first time, or the difference to the posted one."""
    fee_minor = fee_to_post(transfer, update)
    if fee_minor is None:
        return
    await transfers.save_fee(uow, transfer.id, fee_minor, now)
    added_minor = fee_minor - (transfer.fee_minor or 0)
    key = f"transfer_fee:{transfer.id}"
    if transfer.fee_minor is not None:
        key = f"{key}:{new_id()}"
    if added_minor:
        await ledger.post(uow, accounts.transfer_fee(key, added_minor))


async def _complete_payout(uow: UnitOfWork, transfer: LockedTransfer, now: datetime) -> None:
    """Move the amount from in transit to gateway cash, once."""
    if await transfers.mark_processed(uow, transfer.id, now):
        await ledger.post(uow, accounts.payout_processed(transfer.payout_id, transfer.amount_minor))
        uow.publish(_about_payout(PayoutProcessed, transfer))


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
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await transfers.lock_transfer(uow, transfer_id=attempt.id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        if await returns.was_contradicted_since(uow, attempt.id, attempt.last_position):
            # The result may be older than the contradiction, and is no response to it.
            raise TransferContradicted
        if isinstance(result, Reported):
            await record_update(uow, transfer, result.update, clock.now())
            if result.update.status not in UNDER_WAY:
                poll_at = next_poll_at(transfer, result.update, clock.now())
                await transfers.schedule_poll(uow, attempt.id, poll_at, polled=True)
        elif await returns.was_accepted(uow, attempt.id):
            raise TransferMissingAtGateway


_UNCONFIRMED: Final = "the gateway has not confirmed that the earlier attempts failed"


async def confirm_failed_attempts(
    database: Database, gateways: Gateways, clock: Clock, payout_id: UUID, transfer_id: UUID
) -> bool:
    """Return whether the last attempt, `transfer_id`, may be sent, also again after a call without a response. One that was paid
    after all completes the payout, and withdraws a reserved one.

    Otherwise that one is tried again later, and its row has the reason: the gateway gives no response, reports an attempt
    under way, or contradicts our record. An attempt that it no longer has opens an exception.
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
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await transfers.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        await returns.delay_retry(uow, transfer_id, _UNCONFIRMED, now + LEASE, now)
        if missing is not None:
            await open_exception(uow, transfer, "unclassified", missing, now)
    return False


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
        found = await transfers.find_transfer(uow, transfer_id)
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
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await transfers.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        if recipient_code is not None:
            await transfers.save_recipient_code(uow, transfer_id, recipient_code)
        after = update_after_call(transfer, result, calls, now)
        if after is None:
            return
        if after.is_unknown:
            is_marked = await transfers.mark_unknown(uow, transfer_id, after, now)
            if is_marked and after.poll_now:
                uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer_id)})
            return
        if after.update is None:
            raise AssertionError("a call that ended with a result has an update")
        verdict = await record_update(uow, transfer, after.update, now)
        if stays_unknown(transfer.status, verdict):
            await transfers.mark_unknown(uow, transfer_id, update_after_contradiction(transfer, now), now)
            return
        await transfers.schedule_poll(uow, transfer_id, after.poll_at, polled=False)
