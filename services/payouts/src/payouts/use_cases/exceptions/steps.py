"""Steps of exceptions that several operations share."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.documents.document import local_time
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.payouts import ExceptionChanged, ExceptionClosed, ExceptionOpened, PayoutDelayed
from contracts.severities import Severity
from payouts.domain.dispatch import Candidate, HeldPayout, HeldVendor, PlanLine, ShortBatch
from payouts.domain.exceptions import ExceptionAction, Finding, OpenException, revised
from payouts.domain.severity import VENDORS_OF_ONE_BATCH, Cause, ExceptionContext, respond_by, severity_of
from payouts.domain.transfer_updates import LockedTransfer
from payouts.store import exceptions, returns
from payouts.use_cases.alerts import alert_exception, clear_exception_alert


async def change_exception(uow: UnitOfWork, exception: OpenException, action: ExceptionAction, now: datetime) -> None:
    """Revise an exception, which must be locked and open. The on-call staff are alerted again only when it became
    worse.
    """
    due = respond_by(exception.opened_at, action.after.severity)
    await exceptions.save_finding(uow, exception.id, action.after, due)
    await exceptions.record_exception_action(uow, exception.id, action, now)
    uow.publish(
        ExceptionChanged(
            exception_id=exception.id,
            cause=action.after.cause,
            severity=action.after.severity,
            respond_by=iso(due),
            payout_id=exception.payout_id,
            batch_id=exception.batch_id,
            vendor_id=exception.vendor_id,
            number=exception.number,
        )
    )
    if action.after.severity < action.before.severity:
        detail = f"Raised from {action.before.severity}: {action.note} Respond by {local_time(due)} in Lagos."
        alert_exception(uow, exception.id, action.after, detail, exception.subject)


_ESCALATION_NOTE: Final = f"More than {VENDORS_OF_ONE_BATCH} vendors of the batch have an exception."


async def escalate_batch(uow: UnitOfWork, batch_id: UUID, now: datetime) -> None:
    """Raise each to SEV-1, with its history. The batch must be locked, so that none opens in the meantime."""
    for exception in await exceptions.lock_open_exceptions_of_batch(uow, batch_id):
        if exception.finding.severity != "SEV-1":
            raised = Finding(exception.finding.cause, "SEV-1")
            await change_exception(
                uow, exception, ExceptionAction("changed", None, exception.finding, raised, _ESCALATION_NOTE), now
            )


async def resolve_exception(
    uow: UnitOfWork, exception: OpenException, reason: str, now: datetime, by: UUID | None = None
) -> None:
    """Close an exception, which must be locked and open. Its alert is cleared. `by` is None for the service itself."""
    await exceptions.save_closed(uow, exception.id, reason, now)
    await exceptions.record_exception_action(
        uow, exception.id, ExceptionAction("closed", by, exception.finding, exception.finding, reason), now
    )
    uow.publish(
        ExceptionClosed(
            exception_id=exception.id,
            cause=exception.finding.cause,
            severity=exception.finding.severity,
            respond_by=iso(exception.respond_by),
            payout_id=exception.payout_id,
            batch_id=exception.batch_id,
            vendor_id=exception.vendor_id,
            number=exception.number,
        )
    )
    clear_exception_alert(uow, exception.id, reason)


async def close_open_exception(
    uow: UnitOfWork,
    payout_id: UUID,
    reason: str,
    now: datetime,
    *,
    by: UUID | None = None,
    transfer_id: UUID | None = None,
) -> bool:
    """Close the exception of a settled payout; False when none was open, and while money of the payout is held: two
    people decide about it. The payout must be locked.

    With `transfer_id`, only an exception of this attempt: a success of the newest one explains nothing about an older
    one.
    """
    if await returns.is_held(uow, payout_id):
        return False
    exception = await exceptions.lock_open_exception(uow, payout_id)
    if exception is None or transfer_id not in (None, exception.transfer_id):
        return False
    await resolve_exception(uow, exception, reason, now, by)
    return True


async def revise_exception(
    uow: UnitOfWork, exception: OpenException, update: Finding, detail: str, now: datetime
) -> None:
    """Change the finding of the locked, open exception, or records the detail once in its history."""
    finding = revised(exception, update)
    if finding != exception.finding:
        await change_exception(
            uow, exception, ExceptionAction("changed", None, exception.finding, finding, detail), now
        )
    elif detail != exception.detail and not await exceptions.has_note(uow, exception.id, detail):
        await exceptions.record_exception_action(
            uow, exception.id, ExceptionAction("noted", None, finding, finding, detail), now
        )


# Payout, batch, vendor, transfer.
Ids = tuple[UUID | None, UUID | None, UUID | None, UUID | None]
Held = LockedTransfer | HeldPayout | ShortBatch | HeldVendor


async def open_exception(uow: UnitOfWork, held: Held, cause: Cause, detail: str, now: datetime) -> bool:
    """Open one exception for each payout, batch and vendor. False when one is open already, which is then revised.

    A payout must be locked. The sixth vendor of a batch raises the batch's other open exceptions. A payout that was
    only skipped is SEV-3, whatever its amount: nothing was sent.
    """
    trouble, ids = await _context_of(uow, held, cause, now)
    severity: Severity = "SEV-3" if isinstance(held, HeldPayout) else severity_of(trouble)
    opening = exceptions.OpeningException(new_id(), trouble, severity, detail, respond_by(now, severity), *ids)
    if not await exceptions.open_exception_if_new(uow, opening, now):
        await _revise(uow, held, Finding(cause, severity), detail, now)
        return False
    _alert_operators(uow, opening, held.number if isinstance(held, LockedTransfer | HeldPayout) else None)
    if isinstance(held, LockedTransfer | HeldPayout):
        _notify_vendor(uow, held, opening)
    if isinstance(held, LockedTransfer) and held.batch_id and trouble.vendors_in_batch > VENDORS_OF_ONE_BATCH:
        await escalate_batch(uow, held.batch_id, now)
    return True


async def _context_of(uow: UnitOfWork, held: Held, cause: Cause, now: datetime) -> tuple[ExceptionContext, Ids]:
    trouble = ExceptionContext(cause, held.amount_minor)
    if isinstance(held, LockedTransfer):
        related = await exceptions.count_related_exceptions(uow, held.batch_id, held.vendor_id, held.id, now)
        trouble = ExceptionContext(cause, held.amount_minor, *related)
        return trouble, (held.payout_id, None, held.vendor_id, held.id)
    if isinstance(held, HeldPayout):
        return trouble, (held.payout_id, None, held.vendor_id, None)
    if isinstance(held, HeldVendor):
        return trouble, (None, None, held.vendor_id, None)
    return trouble, (None, held.batch_id, None, None)


async def _revise(uow: UnitOfWork, held: Held, finding: Finding, detail: str, now: datetime) -> None:
    exception = None
    if isinstance(held, LockedTransfer | HeldPayout):
        exception = await exceptions.lock_open_exception(uow, held.payout_id)
        if exception is None:
            raise AssertionError("an exception of a locked payout does not close by itself")
    elif isinstance(held, HeldVendor):
        # None: another process has just closed it as covered. The next check decides again.
        exception = await exceptions.lock_open_exception_of_vendor(uow, held.vendor_id)
    if exception is not None:
        await revise_exception(uow, exception, finding, detail, now)


def _notify_vendor(uow: UnitOfWork, held: LockedTransfer | HeldPayout, opening: exceptions.OpeningException) -> None:
    """Notify the vendor, unless the money is at the bank or in the wallet."""
    if isinstance(held, LockedTransfer) and _has_arrived(held, opening.trouble.cause):
        return
    uow.publish(
        PayoutDelayed(
            payout_id=held.payout_id,
            vendor_id=held.vendor_id,
            amount_minor=held.amount_minor,
            cause=opening.trouble.cause,
            exception_id=opening.id,
            number=held.number,
        )
    )


def _has_arrived(held: LockedTransfer, cause: Cause) -> bool:
    return held.payout_status == "failed" or (held.payout_status == "processed" and cause != "reversed")


def _alert_operators(uow: UnitOfWork, opening: exceptions.OpeningException, number: str | None) -> None:
    cause = opening.trouble.cause
    uow.publish(
        ExceptionOpened(
            exception_id=opening.id,
            cause=cause,
            severity=opening.severity,
            respond_by=iso(opening.respond_by),
            payout_id=opening.payout_id,
            batch_id=opening.batch_id,
            vendor_id=opening.vendor_id,
            number=number,
        )
    )
    subject = str(opening.payout_id or opening.batch_id or opening.vendor_id)
    reason = f"{opening.detail.rstrip('.')}. " if opening.detail else ""
    detail = f"{reason}Respond by {local_time(opening.respond_by)} in Lagos."
    alert_exception(uow, opening.id, Finding(cause, opening.severity), detail, subject)


_DETAIL: Final = (
    "A dispatch skipped this payout: the bank details that it was requested with are not the vendor's verified ones "
    "any more. The vendor sets them again, or cancels the payout and requests another one; finance can quarantine "
    "them."
)


async def hold_payouts(
    uow: UnitOfWork, candidates: Sequence[Candidate], lines: Sequence[PlanLine], now: datetime
) -> None:
    """Hold payouts, which must be locked. A repeated skip changes nothing (contract section 8)."""
    known = {candidate.payout_id: candidate for candidate in candidates}
    for line in sorted(lines, key=lambda one: one.payout_id):
        if line.skipped == "bank_details_changed":
            candidate = known[line.payout_id]
            held = HeldPayout(line.payout_id, candidate.vendor_id, line.amount_minor, candidate.number)
            await open_exception(uow, held, "bank_details_changed", _DETAIL, now)
        elif line.skipped is None:
            exception = await exceptions.lock_open_exception(uow, line.payout_id)
            if exception is not None and exception.transfer_id is None:
                await resolve_exception(uow, exception, "The bank details are valid: the payout is sent.", now)
