"""Open the exception that holds a payout, a batch or a vendor, and publish it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from contracts.payouts import ExceptionOpened, PayoutDelayed
from payouts import store
from payouts.domain.dispatch import HeldVendor, ShortBatch
from payouts.domain.exceptions import Finding, alert_key, runbook_of
from payouts.domain.severity import VENDORS_OF_ONE_BATCH, Cause, ExceptionContext, respond_by, severity_of
from payouts.domain.transfer_updates import LockedTransfer
from payouts.use_cases.exceptions.escalate_batch import escalate_batch
from payouts.use_cases.exceptions.revise_exception import revise_exception

# Payout, batch, vendor, transfer.
Ids = tuple[UUID | None, UUID | None, UUID | None, UUID | None]


async def open_exception(
    uow: UnitOfWork, held: LockedTransfer | ShortBatch | HeldVendor, cause: Cause, detail: str, now: datetime
) -> bool:
    """Opens one exception for each payout, batch and vendor. False when one is open already, which is then revised.

    A payout must be locked. The sixth vendor of a batch raises the batch's other open exceptions.
    """
    if isinstance(held, LockedTransfer):
        related = await store.count_related_exceptions(uow, held.batch_id, held.vendor_id, held.id, now)
        trouble = ExceptionContext(cause, held.amount_minor, *related)
        ids: Ids = (held.payout_id, None, held.vendor_id, held.id)
    elif isinstance(held, HeldVendor):
        trouble, ids = ExceptionContext(cause, held.amount_minor), (None, None, held.vendor_id, None)
    else:
        trouble, ids = ExceptionContext(cause, held.amount_minor), (None, held.batch_id, None, None)
    severity = severity_of(trouble)
    opening = store.OpeningException(new_id(), trouble, severity, detail, respond_by(now, severity), *ids)
    if not await store.open_exception_if_new(uow, opening, now):
        if isinstance(held, LockedTransfer):
            exception = await store.lock_open_exception(uow, held.payout_id)
            if exception is None:
                raise AssertionError("an exception of a locked payout does not close by itself")
            await revise_exception(uow, exception, Finding(cause, severity), detail, now)
        elif isinstance(held, HeldVendor):
            exception = await store.lock_open_exception_of_vendor(uow, held.vendor_id)
            # None: another process has just closed it as covered. The next check decides again.
            if exception is not None:
                await revise_exception(uow, exception, Finding(cause, severity), detail, now)
        return False
    _alert_operators(uow, opening, held.number if isinstance(held, LockedTransfer) else None)
    if isinstance(held, LockedTransfer):
        _notify_vendor(uow, held, opening)
        if held.batch_id is not None and trouble.vendors_in_batch > VENDORS_OF_ONE_BATCH:
            await escalate_batch(uow, held.batch_id, now)
    return True


def _notify_vendor(uow: UnitOfWork, held: LockedTransfer, opening: store.OpeningException) -> None:
    """A vendor who has the money, at the bank or in the wallet, is not notified."""
    if held.payout_status == "failed" or (held.payout_status == "processed" and opening.trouble.cause != "reversed"):
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
