"""Correct an outside refund that was not its order's: the platform bears it (contract section 7.6)."""

from dataclasses import replace
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import chargeback_postings
from payments.domain.chargebacks import OUTSIDE_PREFIX
from payments.domain.errors import OutsideRefundNotCorrectable
from payments.domain.escrow import NO_PARTS
from payments.domain.identifiers import won_chargeback_release_id
from payments.domain.refunds import outside_alert_key
from payments.store import chargebacks
from payments.store.escrow import lock_escrow
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import clear_alert
from payments.use_cases.chargebacks.release_returned import release_returned
from payments.use_cases.chargebacks.return_to_order import return_to_order
from payments.use_cases.outside_refunds.publish_outside_refund import publish_outside_refund


async def correct_outside_refund(uow: UnitOfWork, refund: LockedRefund, now: datetime) -> None:
    """Give the order its money again, and the uncovered loss offsets later refunds of the charge: the payer has that
    part.

    Raises OutsideRefundNotCorrectable (409).
    """
    await chargebacks.lock_disputed_charge(uow, refund.charge_reference, refund.charge_gateway_id)
    held = await lock_escrow(uow, refund.order_id) if refund.order_id is not None else None
    allocated = await chargebacks.lock_chargeback(uow, f"{OUTSIDE_PREFIX}{refund.gateway_refund_id}")
    if held is None or allocated is None or refund.status != "settled" or not allocated.allocation.from_order_minor:
        raise OutsideRefundNotCorrectable
    allocation = allocated.allocation
    await ledger.post(
        uow,
        chargeback_postings.outside_refund_corrected(
            refund.id, held.order_id, held.vendor_id, refund.currency, allocation
        ),
    )
    borne = replace(
        allocation,
        from_locked=NO_PARTS,
        from_released=NO_PARTS,
        loss_minor=allocation.loss_minor + allocation.from_order_minor,
    )
    await chargebacks.save_corrected_allocation(uow, allocated.id, borne)
    after = await return_to_order(uow, held, allocation)
    await publish_outside_refund(uow, refund.id, "returned", held, after, allocation, allocation.from_order_minor)
    await release_returned(uow, held, after, allocation, won_chargeback_release_id(allocated.id, 1), now)
    clear_alert(uow, outside_alert_key(refund.id), "two people corrected the refund")
