"""The alerts of payments: the texts for on-call staff and finance, with severity and runbook (contract section 13.3).

One alert is open for each key. Amounts in minor units.
"""

from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from payments.domain.audits import ALERT_KEY, Audit
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge, Outcome
from payments.domain.charges import Charge
from payments.domain.quarantine import alert_key
from payments.domain.refunds import account_alert_key, failed_alert_key, outside_alert_key
from payments.domain.settlements import Settlement
from payments.store.chargebacks import Chargeback
from payments.store.charges import PayableOrder
from payments.store.refunds import LockedRefund

Severity = Literal["SEV-1", "SEV-2", "SEV-3"]
_CHARGEBACK: Final = {
    "opened": "The payer's bank claims it back. Send evidence and a resolution before its date (`dueAt`), or it is lost.",
    "won": "The dispute was won. Staff resolve the order, if it was frozen.",
    "lost": "The dispute was lost: the gateway took the money. Staff resolve the order, if it was frozen.",
    "unclear": "The gateway decided in words that are unknown here, and the money stays frozen. Read the decision in its dashboard.",
}
_QUARANTINE: Final = {
    "underpaid": "less than the order's total",
    "foreign_currency": "not in naira",
    "order_mismatch": "its metadata names another order",
    "unknown_reference": "no payment of ours has its reference",
}


def raise_alert(
    uow: UnitOfWork,
    severity: Severity,
    title: str,
    detail: str,
    *,
    runbook: str,
    key: str,
    about: str | None = None,
) -> None:
    """Publish an alert. Another one with the same key joins it until it is closed."""
    alert = AlertRaised(
        alert_id=new_id(), severity=severity, title=title, detail=detail, runbook=runbook, dedup_key=key, about=about
    )
    uow.publish(alert, source="payments")


def clear_alert(uow: UnitOfWork, key: str, reason: str) -> None:
    """Publish that the cause of the open alert is gone."""
    uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source="payments")


def alert_audit(uow: UnitOfWork, audit: Audit, *, was_broken: bool) -> None:
    """Raise the alert of a broken audit, or clear the one of the audit before."""
    if audit.verdict == "broken":
        broken = [finding for finding in audit.findings if finding.kind == "broken"]
        checks = sorted({finding.check for finding in broken})
        title = f"The audit is broken: {len(checks)} checks"
        detail = f"{len(broken)} findings; the first check is {checks[0]!r}. GET /api/audits/{audit.id} lists them."
        raise_alert(uow, "SEV-1", title, detail, runbook="audit-broken", key=ALERT_KEY, about=str(audit.id))
    elif was_broken:
        clear_alert(uow, ALERT_KEY, f"the audit {audit.id} found nothing broken")


def alert_chargeback(
    uow: UnitOfWork,
    chargeback_id: UUID,
    status: Literal["opened", "won", "lost", "unclear"],
    charge: DisputedCharge,
    amount_minor: int,
    loss_minor: int = 0,
) -> None:
    """Raise one alert for each chargeback and status: SEV-1 for an uncovered loss, else SEV-2."""
    about = _order(charge) if charge.order_id is not None else "No order is held by this charge"
    amounts = f"{amount_minor} of {charge.amount_minor} in {charge.currency}, smallest unit"
    raise_alert(
        uow,
        "SEV-1" if loss_minor else "SEV-2",
        f"Chargeback {status}",
        f"{about}, charge {charge.reference}: {amounts}. {_CHARGEBACK[status]}{_uncovered(loss_minor)}",
        runbook="chargeback",
        key=f"chargeback:{chargeback_id}:{status}",
        about=str(chargeback_id),
    )


def alert_response_rejected(uow: UnitOfWork, chargeback_id: UUID, response_id: UUID, failure: str) -> None:
    """Raise SEV-1, because the date of the dispute does not move. One alert for each response."""
    raise_alert(
        uow,
        "SEV-1",
        "Response to a chargeback rejected",
        f"Chargeback {chargeback_id}: the gateway rejected our response ({failure}). Correct it and send it again.",
        runbook="chargeback",
        key=f"chargeback:{chargeback_id}:response:{response_id}",
        about=str(chargeback_id),
    )


def alert_reversed_decision(uow: UnitOfWork, chargeback: Chargeback, outcome: Outcome, now: datetime) -> None:
    """Raise SEV-2, one alert for each reversal. `chargeback` has the earlier decision."""
    raise_alert(
        uow,
        "SEV-2",
        f"Dispute reported {chargeback.status}, and now {outcome}",
        f"The gateway reported chargeback {chargeback.id} as {chargeback.status}, and its present answer is {outcome}. "
        "The ledger has the new decision. Compare it with the gateway's dashboard, and the order with its money.",
        runbook="chargeback",
        key=f"chargeback:{chargeback.id}:reversed:{iso(now)}",
        about=str(chargeback.id),
    )


def alert_unknown_dispute(uow: UnitOfWork, identity: str, reason: str | None) -> None:
    """Raise SEV-2, one alert for each dispute: no order can be frozen before staff have found its charge."""
    raise_alert(
        uow,
        "SEV-2",
        "Dispute without a charge",
        f"Dispute {identity} ({reason or 'no category'}) names no transaction, so that no order is frozen. Find its charge in "
        "the gateway's dashboard, and respond to it there.",
        runbook="chargeback",
        key=f"dispute-without-charge:{identity}",
        about=identity,
    )


def alert_outside_refund(
    uow: UnitOfWork, refund_id: UUID, charge: DisputedCharge, amount_minor: int, allocation: ChargebackAllocation
) -> None:
    """Raise SEV-2, one alert for each refund that was made in the gateway's dashboard (contract section 7.6)."""
    about = f"order {charge.order_number or 'without a number'}" if charge.order_id is not None else "no order"
    raise_alert(
        uow,
        "SEV-2",
        "Refund made outside",
        f"{amount_minor} of {charge.amount_minor} {charge.currency} (minor units) of charge {charge.reference}, {about}, were refunded at "
        "the gateway and not by us. The order's money is reduced by them, and our refunds offer only the rest. If the refund was not "
        f"the order's, two people correct it.{_uncovered(allocation.loss_minor)}",
        runbook="outside-refund",
        key=outside_alert_key(refund_id),
        about=str(refund_id),
    )


def alert_quarantine(
    uow: UnitOfWork, quarantined_id: UUID, charge: Charge, order: PayableOrder | None, reason: str
) -> None:
    """Raise one alert for each quarantined charge (contract section 7.6)."""
    about = "No order is known" if order is None else f"Order {order.number or 'without a number'}"
    raise_alert(
        uow,
        "SEV-2",
        f"Charge in quarantine: {reason}",
        f"{about}, charge {charge.reference}: {charge.amount_minor} {charge.currency} in minor units, "
        f"{_QUARANTINE.get(reason, reason)}. Two people of finance accept or return it.",
        runbook="quarantined-charge",
        key=alert_key(quarantined_id),
        about=str(quarantined_id),
    )


def clear_quarantine_alert(uow: UnitOfWork, quarantined_id: UUID, outcome: Literal["accepted", "returned"]) -> None:
    """Clear the alert of a quarantined charge after its approved decision."""
    clear_alert(uow, alert_key(quarantined_id), f"the charge was {outcome} by two people")


def alert_settlement(uow: UnitOfWork, settlement: Settlement) -> None:
    """Raise SEV-2: the gateway settles to the bank, which reduces the balance for payouts. Settlements join one alert."""
    raise_alert(
        uow,
        "SEV-2",
        "The gateway settles our balance to the bank",
        f"Settlement {settlement.id} moved {settlement.amount_minor} {settlement.currency}, smallest unit, from the gateway's "
        "balance to our bank account. Payouts and refunds are paid from that balance. Turn automatic settlement off at the gateway.",
        runbook="gateway-settlement",
        key="gateway-settlement",
    )


def alert_refund(uow: UnitOfWork, refund: LockedRefund, failure: str, *, needs_account: bool) -> None:
    """Raise SEV-2 (contract sections 6 and 7). With `needs_account` the gateway waits for an account of the payer."""
    order = "no order" if refund.order_id is None else f"order {refund.order_number or 'without a number'}"
    detail = f"A refund of {refund.amount_minor} {refund.currency} (minor units), {order}: {failure.rstrip('.')}."
    if needs_account:
        raise_alert(
            uow,
            "SEV-2",
            f"Refund needs the payer's account: {refund.kind}",
            f"{detail} Ask the payer for an account, and prepare it.",
            runbook="refund-needs-attention",
            key=account_alert_key(refund.id),
            about=str(refund.id),
        )
        return
    raise_alert(
        uow,
        "SEV-2",
        f"Refund failed: {refund.kind}",
        f"{detail} The money stays owed to the payer: try again, or change the destination.",
        runbook="refund-failed",
        key=failed_alert_key(refund.id),
        about=str(refund.id),
    )


def clear_refund_alert(uow: UnitOfWork, refund: LockedRefund, reason: str) -> None:
    """Clear the alert that `alert_refund` raised of the refund in this state. A later failure raises a new one."""
    clear_alert(uow, account_alert_key(refund.id) if refund.needs_account else failed_alert_key(refund.id), reason)


def _order(charge: DisputedCharge) -> str:
    return f"Order {charge.order_number or 'without a number'}"


def _uncovered(loss_minor: int) -> str:
    return f" {loss_minor} are covered by nothing and stand in chargeback_loss." if loss_minor else ""
