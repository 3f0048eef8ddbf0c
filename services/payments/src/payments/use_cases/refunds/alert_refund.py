"""Alert finance of a refund that did not reach its payer."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.refunds import account_alert_key, failed_alert_key
from payments.store.refunds import LockedRefund


def alert_refund(uow: UnitOfWork, refund: LockedRefund, failure: str, *, needs_account: bool) -> None:
    """Raise a SEV-2 alert (contract sections 6 and 7). With `needs_account` the gateway waits for an account of the payer."""
    order = "no order" if refund.order_id is None else f"order {refund.order_number or 'without a number'}"
    about = f"A refund of {refund.amount_minor} {refund.currency} (minor units), {order}: {failure.rstrip('.')}."
    alert = _needs_account if needs_account else _failed
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
