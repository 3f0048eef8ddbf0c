"""Return the money of an outside refund that the gateway did not pay."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import chargeback_postings
from payments.domain.chargebacks import OUTSIDE_PREFIX, ChargebackAllocation
from payments.domain.identifiers import won_chargeback_release_id
from payments.domain.refunds import outside_alert_key
from payments.store import chargebacks, refunds
from payments.store.escrow import lock_escrow
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import clear_alert
from payments.use_cases.chargebacks.recreate_refunds import recreate_refunds
from payments.use_cases.chargebacks.release_returned import release_returned
from payments.use_cases.chargebacks.return_to_order import return_to_order
from payments.use_cases.outside_refunds.publish_outside_refund import publish_outside_refund
from payments.use_cases.refunds.resume_refunds import resume_refunds


async def return_outside_refund(uow: UnitOfWork, refund: LockedRefund, failure: str, now: datetime) -> None:
    """Reverse its posting; refunds that it had offset are created again."""
    charge = await chargebacks.lock_disputed_charge(uow, refund.charge_reference, refund.charge_gateway_id)
    allocated = await chargebacks.lock_chargeback(uow, f"{OUTSIDE_PREFIX}{refund.gateway_refund_id}")
    if charge is None or allocated is None:
        raise LookupError(f"outside refund {refund.id} has no allocation")
    held = await lock_escrow(uow, refund.order_id) if refund.order_id is not None else None
    recreated = await recreate_refunds(uow, allocated, 1, charge, held, "outside_refund_failed", now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    posting = chargeback_postings.outside_refund_returned(
        refund.id, order_id, vendor_id, refund.currency, allocated.allocation, recreated
    )
    await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, allocated, "won", allocated.amount_minor, ChargebackAllocation(), now)
    await refunds.save_refund_failed(uow, refund.id, failure, refund.gateway_refund_id)
    if held is not None:
        after = await return_to_order(uow, held, allocated.allocation)
        await publish_outside_refund(
            uow, refund.id, "returned", held, after, allocated.allocation, allocated.amount_minor
        )
        await release_returned(uow, held, after, allocated.allocation, won_chargeback_release_id(allocated.id, 1), now)
    clear_alert(uow, outside_alert_key(refund.id), "the gateway did not pay the refund")
    await resume_refunds(uow, charge.id)
