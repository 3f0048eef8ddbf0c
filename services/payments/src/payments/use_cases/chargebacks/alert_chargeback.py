"""Alert the on-call staff of a chargeback: the bank needs a response, then the order a decision."""

from typing import Final, Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.chargebacks import DisputedCharge

_DETAIL: Final = {
    "opened": "The payer's bank claims it back. Send evidence and a resolution before its date (`dueAt`), or it is lost.",
    "won": "The dispute was won. Staff resolve the order, if it was frozen.",
    "lost": "The dispute was lost: the gateway took the money. Staff resolve the order, if it was frozen.",
    "unclear": "The gateway decided in words that are unknown here, and the money stays frozen. Read the decision in its dashboard.",
}


def alert_chargeback(
    uow: UnitOfWork,
    chargeback_id: UUID,
    status: Literal["opened", "won", "lost", "unclear"],
    charge: DisputedCharge,
    amount_minor: int,
    loss_minor: int = 0,
) -> None:
    """Raise one alert for each chargeback and status: SEV-1 for an uncovered loss, else SEV-2. Amounts in minor units."""
    number = charge.order_number or "without a number"
    about = f"Order {number}" if charge.order_id is not None else "No order is held by this charge"
    amounts = f"{amount_minor} of {charge.amount_minor} in {charge.currency}, smallest unit"
    detail = f"{about}, charge {charge.reference}: {amounts}. {_DETAIL[status]}"
    if loss_minor:
        detail += f" {loss_minor} are covered by nothing and stand in chargeback_loss."
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-1" if loss_minor else "SEV-2",
            title=f"Chargeback {status}",
            detail=detail,
            runbook="chargeback",
            dedup_key=f"chargeback:{chargeback_id}:{status}",
            about=str(chargeback_id),
        ),
        source="payments",
    )
