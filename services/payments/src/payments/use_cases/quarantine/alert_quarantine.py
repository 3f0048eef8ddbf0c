"""Alert finance of a quarantined charge (contract section 7.6)."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.charges import Charge
from payments.domain.quarantine import alert_key
from payments.store.charges import PayableOrder

_REASONS: Final = {
    "underpaid": "less than the order's total",
    "foreign_currency": "not in naira",
    "order_mismatch": "its metadata names another order",
    "unknown_reference": "no payment of ours has its reference",
}


def alert_quarantine(
    uow: UnitOfWork, quarantined_id: UUID, charge: Charge, order: PayableOrder | None, reason: str
) -> None:
    """One alert for each quarantined charge."""
    about = "No order is known" if order is None else f"Order {order.number or 'without a number'}"
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Charge in quarantine: {reason}",
            detail=f"{about}, charge {charge.reference}: {charge.amount_minor} {charge.currency} in minor units, "
            f"{_REASONS.get(reason, reason)}. Two people of finance accept or return it.",
            runbook="quarantined-charge",
            dedup_key=alert_key(quarantined_id),
            about=str(quarantined_id),
        ),
        source="payments",
    )
