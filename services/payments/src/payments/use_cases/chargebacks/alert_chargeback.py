"""Tell the people on call of a chargeback: somebody must answer the bank, and then decide about the order."""

from typing import Final, Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.chargebacks import DisputedCharge

_DETAIL: Final = {
    "opened": "The bank asks for it back. Answer the dispute at the gateway before it is lost by silence.",
    "won": "The dispute was won. Staff resolve the order, if it was frozen.",
    "lost": "The dispute was lost: the gateway took the money. Staff resolve the order, if it was frozen.",
}


def alert_chargeback(
    uow: UnitOfWork,
    chargeback_id: UUID,
    standing: Literal["opened", "won", "lost"],
    charge: DisputedCharge,
    amount_minor: int,
    loss_minor: int = 0,
) -> None:
    """One alert for each chargeback and standing, however often it is said. A loss that nothing covers is SEV-1."""
    about = f"Order {charge.order_id}" if charge.order_id is not None else "No order is held by this charge"
    amounts = f"{amount_minor} of {charge.amount_minor} in {charge.currency}, smallest unit"
    detail = f"{about}, charge {charge.reference}: {amounts}. {_DETAIL[standing]}"
    if loss_minor:
        detail += f" {loss_minor} are covered by nothing and stand in chargeback_loss."
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-1" if loss_minor else "SEV-2",
            title=f"Chargeback {standing}",
            detail=detail,
            runbook="chargeback",
            dedup_key=f"chargeback:{chargeback_id}:{standing}",
            about=str(chargeback_id),
        ),
        source="payments",
    )
