"""Record what the gateway says about a refund: paid out, failed, or still under way."""

from datetime import datetime
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from payments import store
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundUpdate, check_refund
from payments.use_cases.refunds.apply_refund_update import apply_refund_update
from payments.use_cases.refunds.record_replaced_attempt import record_replaced_attempt


async def record_refund_update(uow: UnitOfWork, update: RefundUpdate, now: datetime) -> bool:
    """Whether it moved our refund. Raises SubjectUnknown (our own call has not returned yet, or not a refund of ours) and
    RefundContradiction."""
    found = await _find(uow, update)
    if found is None:
        raise SubjectUnknown("no refund of ours is known to the gateway under this id")
    refund, attempt_id = found
    if attempt_id != refund["attempt_id"]:
        return await record_replaced_attempt(uow, refund, attempt_id, update, now)
    check_refund(update, refund["amount_minor"], refund["currency"])
    return await apply_refund_update(uow, refund, update, now)


async def _find(uow: UnitOfWork, update: RefundUpdate) -> tuple[asyncpg.Record, UUID] | None:
    """The locked refund and the attempt that is spoken of; by our own reference first: it is there before the gateway's id
    has come back to us."""
    ours = attempt_of_reference(update.note)
    if ours is not None:
        refund = await store.lock_refund_of_attempt(uow, ours)
        if refund is not None:
            return refund, ours
    if update.gateway_refund_id is None:
        return None
    refund = await store.lock_refund_of_gateway(uow, update.gateway_refund_id)
    if refund is None:
        return None
    if refund["gateway_refund_id"] == update.gateway_refund_id:
        return refund, refund["attempt_id"]
    attempt_id = await store.find_attempt_of_gateway(uow, update.gateway_refund_id)
    return None if attempt_id is None else (refund, attempt_id)
