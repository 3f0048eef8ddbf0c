"""Open the exception that holds a payout or a batch, and tell everybody who must know."""

from datetime import datetime
from uuid import UUID

from common.clock import iso
from common.database import UnitOfWork
from common.ids import new_id
from contracts.operations import AlertRaised
from contracts.payouts import ExceptionOpened, PayoutDelayed
from payouts import store
from payouts.domain.severity import RESPOND_WITHIN, Cause, Trouble, severity_of
from payouts.domain.transfer_news import TransferInHand

RUNBOOK = "payout-exceptions"


async def open_payout_exception(
    uow: UnitOfWork, transfer: TransferInHand, cause: Cause, detail: str, now: datetime
) -> bool:
    """One live exception for each payout: False when it has one already. The payout must be locked."""
    vendors, rejections = await store.count_company(uow, transfer.batch_id, transfer.vendor_id, now)
    trouble = Trouble(cause, transfer.amount_minor, vendors, rejections)
    opening = _opening(trouble, detail, now, payout_id=transfer.payout_id, vendor_id=transfer.vendor_id)
    if not await store.open_exception_once(uow, opening, now):
        return False
    _tell(uow, opening)
    uow.publish(
        PayoutDelayed(
            payout_id=transfer.payout_id,
            vendor_id=transfer.vendor_id,
            amount_minor=transfer.amount_minor,
            cause=cause,
        )
    )
    return True


async def open_short_balance_exception(uow: UnitOfWork, batch_id: UUID, total_minor: int, now: datetime) -> None:
    """The gateway's balance does not cover a batch: nothing of it was sent (contract section 8)."""
    detail = f"The gateway's balance does not cover a batch of {total_minor} kobo; nothing was sent."
    opening = _opening(Trouble("balance_insufficient", total_minor), detail, now, batch_id=batch_id)
    if await store.open_exception_once(uow, opening, now):
        _tell(uow, opening)


def _opening(
    trouble: Trouble,
    detail: str,
    now: datetime,
    *,
    payout_id: UUID | None = None,
    batch_id: UUID | None = None,
    vendor_id: UUID | None = None,
) -> store.OpeningException:
    severity = severity_of(trouble)
    respond_by = now + RESPOND_WITHIN[severity]
    return store.OpeningException(new_id(), trouble, severity, detail, respond_by, payout_id, batch_id, vendor_id)


def _tell(uow: UnitOfWork, opening: store.OpeningException) -> None:
    cause, about = opening.trouble.cause, opening.payout_id or opening.batch_id
    uow.publish(
        ExceptionOpened(
            exception_id=opening.id,
            cause=cause,
            severity=opening.severity,
            respond_by=iso(opening.respond_by),
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
            detail=f"{opening.detail} Respond by {iso(opening.respond_by)}.",
            runbook=RUNBOOK,
            dedup_key=f"payout-exception:{opening.id}",
            about=str(about),
        ),
        source="payouts",
    )
