"""Fail a refund that did not reach its payer."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from contracts.payments import RefundFailed
from payments.domain.accounts import foreign_currency
from payments.domain.refunds import account_alert_key, failed_alert_key
from payments.store import refunds
from payments.store.refunds import LockedRefund


async def fail_refund(
    uow: UnitOfWork,
    refund: LockedRefund,
    failure: str,
    gateway_refund_id: str | None,
    *,
    needs_account_at: datetime | None = None,
) -> None:
    """The money stays owed in refund_payable until two people decide. Raises a SEV-2 alert (contract sections 6 and 7).

    With `needs_account_at` the gateway keeps the refund open until it has an account of the payer.
    """
    await refunds.save_refund_failed(uow, refund.id, failure, gateway_refund_id, needs_account_at)
    uow.publish(
        RefundFailed(
            refund_id=refund.id,
            kind=refund.kind,
            amount_minor=refund.amount_minor,
            order_id=refund.order_id,
            buyer_id=refund.buyer_id,
            currency=foreign_currency(refund.currency),
        )
    )
    about = f"Refund {refund.id} of {refund.amount_minor} {refund.currency} (minor units), order {refund.order_id}: {failure.rstrip('.')}."
    alert = _needs_account if needs_account_at is not None else _failed
    uow.publish(alert(refund, about), source="payments")


def _failed(refund: LockedRefund, about: str) -> AlertRaised:
    return AlertRaised(
        alert_id=new_id(),
        severity="SEV-2",
        title=f"Refund failed: {refund.kind}",
        detail=f"{about} The money stays owed to the payer: try again, or change the destination.",
        runbook="refund-failed",
        dedup_key=failed_alert_key(refund.id),
        about=str(refund.id),
    )


def _needs_account(refund: LockedRefund, about: str) -> AlertRaised:
    return AlertRaised(
        alert_id=new_id(),
        severity="SEV-2",
        title=f"Refund needs the payer's account: {refund.kind}",
        detail=f"{about} Ask the payer for an account, and prepare it.",
        runbook="refund-needs-attention",
        dedup_key=account_alert_key(refund.id),
        about=str(refund.id),
    )
