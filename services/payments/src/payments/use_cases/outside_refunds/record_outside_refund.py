"""Record a refund that was made in the gateway's dashboard (contract section 7.6)."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payments.domain import chargeback_postings
from payments.domain.chargebacks import OUTSIDE_PREFIX, ChargebackAllocation, DisputedCharge, allocate_chargeback
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import attempt_of_reference, outside_refund_id
from payments.domain.refunds import FIRST_POLL_AFTER, RETURNED_STATUSES, NewRefund, RefundUpdate, check_refund
from payments.store import chargebacks, refunds
from payments.store.chargebacks import Chargeback
from payments.store.escrow import lock_escrow
from payments.use_cases.alerts import alert_outside_refund
from payments.use_cases.chargebacks.debit_order import debit_order
from payments.use_cases.outside_refunds.apply_outside_update import apply_outside_update
from payments.use_cases.outside_refunds.publish_outside_refund import publish_outside_refund

REASON = "made_outside"


async def record_outside_refund(uow: UnitOfWork, update: RefundUpdate, now: datetime) -> bool:
    """Return whether the refund is new. It is allocated like a lost chargeback: to unsent refunds of the charge first, then to the order.

    Raises SubjectUnknown for a refund that may be ours, or of an unknown charge, and RefundContradiction.
    """
    gateway_refund_id = update.gateway_refund_id
    if gateway_refund_id is None or attempt_of_reference(update.note) is not None:
        raise SubjectUnknown(f"no refund of ours has the gateway's id {gateway_refund_id}")
    if update.status in RETURNED_STATUSES:
        return False
    charge = await _lock_charge(uow, update)
    held = await lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    check_refund(update, update.amount_minor, charge.currency)
    refund = NewRefund(
        outside_refund_id(gateway_refund_id),
        "outside",
        charge.id,
        charge.order_id,
        held.buyer_id if held else None,
        update.amount_minor,
        REASON,
        charge.currency,
    )
    if not await refunds.record_outside_refund_if_new(uow, refund, gateway_refund_id, now + FIRST_POLL_AFTER, now):
        return False
    unsent = await chargebacks.lock_unsent_refunds(uow, charge.id)
    allocation = allocate_chargeback(refund.amount_minor, unsent, held.escrow if held else None)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    posting = chargeback_postings.outside_refund(refund.id, order_id, vendor_id, charge.currency, allocation)
    identity = f"{OUTSIDE_PREFIX}{gateway_refund_id}"
    await chargebacks.record_chargeback(uow, refund.id, identity, charge, refund.amount_minor, REASON, now)
    allocated = Chargeback(refund.id, refund.amount_minor, charge.currency, "opened", ChargebackAllocation())
    after = await debit_order(uow, allocated, held, allocation, refund.amount_minor, posting, now)
    if held is not None and after is not None:
        await publish_outside_refund(uow, refund.id, "recorded", held, after, allocation, refund.amount_minor)
    alert_outside_refund(uow, refund.id, charge, refund.amount_minor, allocation)
    recorded = await refunds.lock_refund(uow, refund.id)
    if recorded is not None:
        await apply_outside_update(uow, recorded, update, now)
    return True


async def _lock_charge(uow: UnitOfWork, update: RefundUpdate) -> DisputedCharge:
    charge = await chargebacks.lock_disputed_charge(uow, update.transaction_reference, update.transaction_id)
    if charge is None:
        raise SubjectUnknown(f"refund {update.gateway_refund_id} of an unknown charge")
    if update.is_anonymous and await refunds.has_unanswered_call(uow, charge.id):
        raise SubjectUnknown(f"refund {update.gateway_refund_id} may be that of a call of ours without a response")
    return charge
