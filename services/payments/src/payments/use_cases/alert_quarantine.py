"""Alert finance of a charge in quarantine, and close the alert when two people have decided (contract section 16.9)."""

from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from payments.domain.charges import Charge

_REASONS: Final = {
    "underpaid": "less than the order's total",
    "foreign_currency": "not in naira",
    "order_mismatch": "its metadata names another order",
    "unknown_reference": "no payment of ours has its reference",
}


def alert_quarantine(uow: UnitOfWork, quarantined_id: UUID, charge: Charge, order_id: UUID | None, reason: str) -> None:
    """One alert for each quarantined charge."""
    about = f"Order {order_id}" if order_id is not None else "No order is known"
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Charge in quarantine: {reason}",
            detail=f"{about}, charge {charge.reference}: {charge.amount_minor} {charge.currency} in minor units, "
            f"{_REASONS.get(reason, reason)}. Two people of finance accept or return it.",
            runbook="quarantined-charge",
            dedup_key=_dedup_key(quarantined_id),
            about=str(quarantined_id),
        ),
        source="payments",
    )


def clear_quarantine_alert(uow: UnitOfWork, quarantined_id: UUID, outcome: str) -> None:
    """`outcome` is what two people decided: accepted or returned."""
    uow.publish(
        AlertCleared(
            alert_id=new_id(), dedup_key=_dedup_key(quarantined_id), reason=f"the charge was {outcome} by two people"
        ),
        source="payments",
    )


def _dedup_key(quarantined_id: UUID) -> str:
    return f"quarantined-charge:{quarantined_id}"
