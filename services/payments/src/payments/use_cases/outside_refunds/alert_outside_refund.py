"""Alert finance of a refund that was made in the gateway's dashboard."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge
from payments.domain.refunds import outside_alert_key


def alert_outside_refund(
    uow: UnitOfWork, refund_id: UUID, charge: DisputedCharge, amount_minor: int, allocation: ChargebackAllocation
) -> None:
    """SEV-2, one alert for each refund (contract section 7.6). Amounts in minor units."""
    about = f"order {charge.order_number or 'without a number'}" if charge.order_id is not None else "no order"
    detail = (
        f"{amount_minor} of {charge.amount_minor} {charge.currency} (minor units) of charge {charge.reference}, {about}, were refunded at "
        "the gateway and not by us. The order's money is reduced by them, and our refunds offer only the rest. If the refund was not "
        "the order's, two people correct it."
    )
    if allocation.loss_minor:
        detail += f" {allocation.loss_minor} are covered by nothing and stand in chargeback_loss."
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title="Refund made outside",
            detail=detail,
            runbook="outside-refund",
            dedup_key=outside_alert_key(refund_id),
            about=str(refund_id),
        ),
        source="payments",
    )
