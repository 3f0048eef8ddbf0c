"""The alerts of payments: the texts for on-call staff and finance, with severity and runbook (contract section 13.3).

One alert is open for each key. Parameters are in minor units; a text has naira and Lagos time.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.documents.document import local_time
from common.messaging.alerts import Alerts
from common.messaging.dead_letters import webhook_alert_key
from common.primitives.clock import iso
from common.primitives.money import format_naira
from payments.domain import gateway_faults
from payments.domain.audits import ALERT_KEY, Audit
from payments.domain.chargeback_responses import how_to_respond
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge, Outcome, due_alert_key
from payments.domain.charges import Charge
from payments.domain.quarantine import alert_key
from payments.domain.refunds import account_alert_key, failed_alert_key, outside_alert_key
from payments.domain.settlements import Settlement
from payments.domain.webhooks import Arrival
from payments.store.chargebacks import Chargeback, DueChargeback
from payments.store.charges import PayableOrder
from payments.store.reconciliation import UnalertedCase
from payments.store.refunds import LockedRefund

_ALERTS: Final = Alerts("payments")
clear_alert: Final = _ALERTS.clear_alert
_CHARGEBACK: Final = {
    "opened": ("The payer's bank claims it back. Send evidence and a resolution before its date, or it is lost."),
    "won": "The dispute was won. Staff resolve the order, if it was frozen.",
    "lost": "The dispute was lost: the gateway took the money. Staff resolve the order, if it was frozen.",
    "unclear": (
        "The gateway decided in words that are unknown here, and the money stays frozen. Read the decision in "
        "its dashboard."
    ),
}
# Enough to see a pattern; the list has the rest.
_NAMED_MAX: Final = 5
_QUARANTINE: Final = {
    "underpaid": "less than the order's total",
    "foreign_currency": "not in naira",
    "order_mismatch": "its metadata names another order",
    "unknown_reference": "no payment of ours has its reference",
}


def alert_audit(uow: UnitOfWork, audit: Audit, *, was_broken: bool) -> None:
    """Raise the alert of a broken audit, or clear the one of the audit before."""
    if audit.verdict == "broken":
        broken = [finding for finding in audit.findings if finding.kind == "broken"]
        checks = sorted({finding.check for finding in broken})
        title = f"The audit is broken: {len(checks)} checks"
        detail = f"{len(broken)} findings; the first check is {checks[0]!r}. GET /api/audits/{audit.id} lists them."
        _ALERTS.raise_alert(uow, "SEV-1", title, detail, runbook="audit-broken", key=ALERT_KEY, about=str(audit.id))
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
    amounts = f"{_amount(amount_minor, charge.currency)} of {_amount(charge.amount_minor, charge.currency)}"
    _ALERTS.raise_alert(
        uow,
        "SEV-1" if loss_minor else "SEV-2",
        f"Chargeback {status}",
        f"{about}, charge {charge.reference}: {amounts}. {_CHARGEBACK[status]}{_uncovered(loss_minor)}",
        runbook="chargeback",
        key=f"chargeback:{chargeback_id}:{status}",
        about=str(chargeback_id),
    )


def alert_due_chargeback(uow: UnitOfWork, due: DueChargeback) -> None:
    """Raise SEV-1 once before the date of a dispute that has no response."""
    _ALERTS.raise_alert(
        uow,
        "SEV-1",
        "A chargeback has no response, and its date is near",
        f"Dispute {due.identity} over {_amount(due.amount_minor, due.currency)} is lost without a response by "
        f"{local_time(due.due_at)} in Lagos. {how_to_respond(due.gateway)}",
        runbook="chargeback",
        key=due_alert_key(due.id),
        about=str(due.id),
    )


def alert_response_rejected(uow: UnitOfWork, chargeback_id: UUID, response_id: UUID, failure: str) -> None:
    """Raise SEV-1, because the date of the dispute does not move. One alert for each response."""
    _ALERTS.raise_alert(
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
    _ALERTS.raise_alert(
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
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        "Dispute without a charge",
        f"Dispute {identity} ({reason or 'no category'}) names no transaction, so that no order is frozen. Find its "
        "charge in the gateway's dashboard, and respond to it there.",
        runbook="chargeback",
        key=f"dispute-without-charge:{identity}",
        about=identity,
    )


def alert_outside_refund(
    uow: UnitOfWork, refund_id: UUID, charge: DisputedCharge, amount_minor: int, allocation: ChargebackAllocation
) -> None:
    """Raise SEV-2, one alert for each refund that was made in the gateway's dashboard (contract section 7.6)."""
    about = f"order {charge.order_number or 'without a number'}" if charge.order_id is not None else "no order"
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        "Refund made outside",
        f"{_amount(amount_minor, charge.currency)} of {_amount(charge.amount_minor, charge.currency)} of charge "
        f"{charge.reference}, {about}, were refunded at the gateway and not by us. The order's money is reduced by "
        "them, and our refunds offer only the rest. If the refund was not the order's, two people correct "
        f"it.{_uncovered(allocation.loss_minor)}",
        runbook="outside-refund",
        key=outside_alert_key(refund_id),
        about=str(refund_id),
    )


def alert_quarantine(
    uow: UnitOfWork, quarantined_id: UUID, charge: Charge, order: PayableOrder | None, reason: str
) -> None:
    """Raise one alert for each quarantined charge (contract section 7.6)."""
    about = "No order is known" if order is None else f"Order {order.number or 'without a number'}"
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"Charge in quarantine: {reason.replace('_', ' ')}",
        f"{about}, charge {charge.reference}: {_amount(charge.amount_minor, charge.currency)}, "
        f"{_QUARANTINE.get(reason, reason)}. Two people of finance accept or return it.",
        runbook="quarantined-charge",
        key=alert_key(quarantined_id),
        about=str(quarantined_id),
    )


def _amount(amount_minor: int, currency: str) -> str:
    """Return the amount; another currency than the naira has its code."""
    shown = format_naira(amount_minor)
    return shown if currency == "NGN" else shown.replace("₦", f"{currency} ")


def clear_quarantine_alert(uow: UnitOfWork, quarantined_id: UUID, outcome: Literal["accepted", "returned"]) -> None:
    """Clear the alert of a quarantined charge after its approved decision."""
    clear_alert(uow, alert_key(quarantined_id), f"the charge was {outcome} by two people")


def alert_settlement(uow: UnitOfWork, settlement: Settlement) -> None:
    """Raise SEV-2: the gateway settles to the bank, which reduces the balance for payouts. Settlements join one
    alert.
    """
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        "The gateway settles our balance to the bank",
        f"Settlement {settlement.id} moved {_amount(settlement.amount_minor, settlement.currency)} from the "
        "gateway's balance to our bank account. Payouts and refunds are paid from that balance. Turn automatic "
        "settlement off at the gateway.",
        runbook="gateway-settlement",
        key="gateway-settlement",
    )


def alert_refund(uow: UnitOfWork, refund: LockedRefund, failure: str, *, needs_account: bool) -> None:
    """Raise SEV-2 (contract sections 6 and 7). With `needs_account` the gateway waits for an account of the payer."""
    order = "no order" if refund.order_id is None else f"order {refund.order_number or 'without a number'}"
    detail = f"A refund of {_amount(refund.amount_minor, refund.currency)}, {order}: {failure.rstrip('.')}."
    if needs_account:
        _ALERTS.raise_alert(
            uow,
            "SEV-2",
            f"Refund needs the payer's account: {refund.kind}",
            f"{detail} Ask the payer for an account, and prepare it.",
            runbook="refund-needs-attention",
            key=account_alert_key(refund.id),
            about=str(refund.id),
        )
        return
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"Refund failed: {refund.kind}",
        f"{detail} The money stays owed to the payer: try again, or change the destination.",
        runbook="refund-failed",
        key=failed_alert_key(refund.id),
        about=str(refund.id),
    )


def alert_contradicted_withdrawal(uow: UnitOfWork, withdrawal_id: UUID, amount_minor: int, loss_minor: int) -> None:
    """Raise SEV-1 for a loss, else SEV-2: a withdrawal was paid after its failure, whose money had been returned."""
    rest = f"; the balance lacks {format_naira(loss_minor)}, which the platform bears" if loss_minor else ""
    _ALERTS.raise_alert(
        uow,
        "SEV-1" if loss_minor else "SEV-2",
        "Withdrawal paid after its failure",
        f"The gateway reported withdrawal {withdrawal_id} over {format_naira(amount_minor)} as failed, and now as "
        f"paid. The amount is taken from the balance again{rest}. Compare the transfer with the gateway's dashboard.",
        runbook="withdrawal-contradicted",
        key=f"withdrawal-contradicted:{withdrawal_id}",
        about=str(withdrawal_id),
    )


def clear_refund_alert(uow: UnitOfWork, refund: LockedRefund, reason: str) -> None:
    """Clear the alert that `alert_refund` raised of the refund in this state. A later failure raises a new one."""
    clear_alert(uow, account_alert_key(refund.id) if refund.needs_account else failed_alert_key(refund.id), reason)


def alert_rejected_key(uow: UnitOfWork, gateway: str) -> None:
    """Raise SEV-1: the gateway rejects our key."""
    _ALERTS.raise_alert(
        uow,
        "SEV-1",
        "Payment gateway rejects our key",
        (
            f"{gateway} answered 401 or 403 to payments. Buyers cannot start payments, and refunds wait, until it "
            "accepts the key."
        ),
        runbook=gateway_faults.RUNBOOK,
        key=gateway_faults.key_alert(gateway),
        about="payments",
    )


def alert_unexplained(uow: UnitOfWork, cases: Sequence[UnalertedCase]) -> None:
    """Raise one SEV-2 alert for all new unexplained differences."""
    named = ", ".join(f"{case.kind} {case.subject}" for case in cases[:_NAMED_MAX])
    total = sum(case.unexplained_minor for case in cases)
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"{len(cases)} differences between the gateway, the ledger and the orders",
        f"{format_naira(total)} are unexplained: {named}. Compare each case with the gateway, and close it with "
        "evidence.",
        runbook="unexplained-kobo",
        key=f"unexplained-kobo:{cases[0].id}",
        about=str(cases[0].id),
    )


def alert_dead_webhook(uow: UnitOfWork, dead_letter_id: UUID, title: str, detail: str) -> None:
    """Raise SEV-2, one alert for each webhook: `dead_letter_id` is its first dead letter."""
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        title,
        detail,
        runbook="dead-letter-webhooks",
        key=webhook_alert_key(dead_letter_id),
        about=str(dead_letter_id),
    )


def alert_revised_webhook(uow: UnitOfWork, arrival: Arrival, changed: list[str]) -> None:
    """Raise SEV-3, one alert for each webhook that arrived again with other content."""
    _ALERTS.raise_alert(
        uow,
        "SEV-3",
        f"Revised webhook: {arrival.event_type}",
        f"{arrival.id} arrived again with other content ({', '.join(changed)}). It was stored and not processed; "
        "the gateway is queried for the present state.",
        runbook="revised-webhook",
        key=f"revised-webhook:{arrival.id}",
        about=arrival.id,
    )


def _order(charge: DisputedCharge) -> str:
    return f"Order {charge.order_number or 'without a number'}"


def _uncovered(loss_minor: int) -> str:
    return f" {format_naira(loss_minor)} are covered by nothing, a loss of the platform." if loss_minor else ""
