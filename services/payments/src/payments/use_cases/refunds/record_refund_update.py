"""Record the gateway's update about a refund: paid out, failed, or in progress."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundUpdate, check_refund
from payments.store import refund_attempts, refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.outside_refunds.steps import apply_outside_update, record_outside_refund
from payments.use_cases.refunds.apply_refund_update import apply_refund_update
from payments.use_cases.refunds.record_replaced_attempt import record_replaced_attempt


async def record_refund_update(uow: UnitOfWork, update: RefundUpdate, now: datetime) -> bool:
    """Return whether the update changed a refund. A refund of the gateway's dashboard is recorded.

    Raises SubjectUnknown before our own call has returned, and RefundContradiction.
    """
    found = await _find(uow, update)
    if found is None:
        return await record_outside_refund(uow, update, now)
    refund, attempt_id = found
    if refund.kind == "outside":
        check_refund(update, refund.amount_minor, refund.currency)
        return await apply_outside_update(uow, refund, update, now)
    if attempt_id != refund.attempt_id:
        return await record_replaced_attempt(uow, refund, attempt_id, update, now)
    check_refund(update, refund.amount_minor, refund.currency)
    return await apply_refund_update(uow, refund, update, now)


async def _find(uow: UnitOfWork, update: RefundUpdate) -> tuple[LockedRefund, UUID] | None:
    """Return the locked refund and the updated attempt, by our reference first: it is recorded before the gateway's
    id.
    """
    attempt_id = attempt_of_reference(update.note)
    if attempt_id is not None:
        refund = await refunds.lock_refund_of_attempt(uow, attempt_id)
        if refund is not None:
            return refund, attempt_id
    if update.gateway_refund_id is None:
        return None
    refund = await refunds.lock_refund_of_gateway(uow, update.gateway_refund_id)
    if refund is None:
        return None
    if refund.gateway_refund_id == update.gateway_refund_id:
        return refund, refund.attempt_id
    attempt_id = await refund_attempts.find_attempt_of_gateway(uow, update.gateway_refund_id)
    return None if attempt_id is None else (refund, attempt_id)
