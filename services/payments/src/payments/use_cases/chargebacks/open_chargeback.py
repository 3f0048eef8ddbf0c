"""Open a chargeback. Nothing is posted; unsent refunds of the charge wait for the decision."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.payments import ChargeDisputed
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge, disputed_vendor_minor
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder
from payments.use_cases.alerts import alert_chargeback
from payments.use_cases.escrow.describe_escrow import describe_escrow


async def open_chargeback(
    uow: UnitOfWork,
    charge: DisputedCharge,
    held: HeldOrder | None,
    identity: str,
    amount_minor: int,
    reason: str | None,
    now: datetime,
) -> Chargeback:
    """Publish `charge_disputed`: orders freezes the order, and payouts holds the vendor's part."""
    chargeback_id = new_id()
    await chargebacks.record_chargeback(uow, chargeback_id, identity, charge, amount_minor, reason, now)
    if held is not None:
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=amount_minor,
                chargeback_id=chargeback_id,
                vendor_minor=disputed_vendor_minor(amount_minor, held.escrow),
                remaining_minor=held.escrow.locked.total_minor,
                remaining_vendor_minor=held.escrow.locked.vendor_minor,
                escrow=describe_escrow(held, held.escrow),
                number=held.number,
            )
        )
    alert_chargeback(uow, chargeback_id, "opened", charge, amount_minor)
    return Chargeback(chargeback_id, amount_minor, charge.currency, "opened", ChargebackAllocation())
