"""Open the exception that holds a payout, a batch or a vendor, and publish it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from contracts.payouts import ExceptionOpened, PayoutDelayed
from payouts import store
from payouts.domain.dispatch import HeldPayout, HeldVendor, ShortBatch
from payouts.domain.exceptions import Finding, alert_key, runbook_of
from payouts.domain.severity import VENDORS_OF_ONE_BATCH, Cause, ExceptionContext, Severity, respond_by, severity_of
from payouts.domain.transfer_updates import LockedTransfer
from payouts.use_cases.exceptions.escalate_batch import escalate_batch
from payouts.use_cases.exceptions.revise_exception import revise_exception

# Payout, batch, vendor, transfer.
Ids = tuple[UUID | None, UUID | None, UUID | None, UUID | None]
Held = LockedTransfer | HeldPayout | ShortBatch | HeldVendor


async def open_exception(uow: UnitOfWork, held: Held, cause: Cause, detail: str, now: datetime) -> bool:
    """Open one exception for each payout, batch and vendor. False when one is open already, which is then revised.

    A payout must be locked. The sixth vendor of a batch raises the batch's other open exceptions. A payout that was only
    skipped is SEV-3, whatever its amount: nothing was sent.
    """
    trouble, ids = await _context_of(uow, held, cause, now)
    severity: Severity = "SEV-3" if isinstance(held, HeldPayout) else severity_of(trouble)
    opening = store.OpeningException(new_id(), trouble, severity, detail, respond_by(now, severity), *ids)
    if not await store.open_exception_if_new(uow, opening, now):
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
        related = await store.count_related_exceptions(uow, held.batch_id, held.vendor_id, held.id, now)
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
        exception = await store.lock_open_exception(uow, held.payout_id)
        if exception is None:
            raise AssertionError("an exception of a locked payout does not close by itself")
    elif isinstance(held, HeldVendor):
        # None: another process has just closed it as covered. The next check decides again.
        exception = await store.lock_open_exception_of_vendor(uow, held.vendor_id)
    if exception is not None:
        await revise_exception(uow, exception, finding, detail, now)


def _notify_vendor(uow: UnitOfWork, held: LockedTransfer | HeldPayout, opening: store.OpeningException) -> None:
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


def _alert_operators(uow: UnitOfWork, opening: store.OpeningException, number: str | None) -> None:
    cause, due = opening.trouble.cause, iso(opening.respond_by)
    uow.publish(
        ExceptionOpened(
            exception_id=opening.id,
            cause=cause,
            severity=opening.severity,
            respond_by=due,
            payout_id=opening.payout_id,
            batch_id=opening.batch_id,
            vendor_id=opening.vendor_id,
            number=number,
        )
    )
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity=opening.severity,
            title=f"Payout exception: {cause}",
            detail=f"{opening.detail} Respond by {due}.",
            runbook=runbook_of(cause),
            dedup_key=alert_key(opening.id),
            about=str(opening.payout_id or opening.batch_id or opening.vendor_id),
        ),
        source="payouts",
    )
