"""Open the exception that holds a payout or a batch, and tell everybody who must know."""

from datetime import datetime
from uuid import UUID

from common.clock import iso
from common.database import UnitOfWork
from common.ids import new_id
from contracts.operations import AlertRaised
from contracts.payouts import ExceptionOpened, PayoutDelayed
from payouts import store
from payouts.domain.dispatch import ShortBatch
from payouts.domain.severity import RESPOND_WITHIN, Cause, Trouble, severity_of
from payouts.domain.transfer_news import TransferInHand

RUNBOOK = "payout-exceptions"
# Payout, batch, vendor.
Ids = tuple[UUID | None, UUID | None, UUID | None]


async def open_exception(
    uow: UnitOfWork, held: TransferInHand | ShortBatch, cause: Cause, detail: str, now: datetime
) -> bool:
    """One live exception for each payout and batch: False when it has one already. A payout must be locked."""
    if isinstance(held, TransferInHand):
        company = await store.count_company(uow, held.batch_id, held.vendor_id, now)
        trouble = Trouble(cause, held.amount_minor, *company)
        ids: Ids = (held.payout_id, None, held.vendor_id)
    else:
        trouble, ids = Trouble(cause, held.amount_minor), (None, held.batch_id, None)
    severity = severity_of(trouble)
    opening = store.OpeningException(new_id(), trouble, severity, detail, now + RESPOND_WITHIN[severity], *ids)
    if not await store.open_exception_once(uow, opening, now):
        return False
    _tell_the_operators(uow, opening)
    if isinstance(held, TransferInHand):
        uow.publish(
            PayoutDelayed(
                payout_id=held.payout_id, vendor_id=held.vendor_id, amount_minor=held.amount_minor, cause=cause
            )
        )
    return True


def _tell_the_operators(uow: UnitOfWork, opening: store.OpeningException) -> None:
    cause, respond_by = opening.trouble.cause, iso(opening.respond_by)
    uow.publish(
        ExceptionOpened(
            exception_id=opening.id,
            cause=cause,
            severity=opening.severity,
            respond_by=respond_by,
            payout_id=opening.payout_id,
            batch_id=opening.batch_id,
            vendor_id=opening.vendor_id,
        )
    )
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity=opening.severity,
            title=f"Payout exception: {cause}",
            detail=f"{opening.detail} Respond by {respond_by}.",
            runbook=RUNBOOK,
            dedup_key=f"payout-exception:{opening.id}",
            about=str(opening.payout_id or opening.batch_id),
        ),
        source="payouts",
    )
