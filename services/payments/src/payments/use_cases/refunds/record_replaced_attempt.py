"""Take in news of an attempt that had failed, and that another one took the place of."""

from datetime import datetime
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments.domain.errors import RefundContradiction
from payments.domain.refunds import FAILED_STATUSES, RefundUpdate, check_refund
from payments.use_cases.refunds.settle_refund import settle_refund


async def record_replaced_attempt(
    uow: UnitOfWork, refund: asyncpg.Record, attempt_id: UUID, update: RefundUpdate, now: datetime
) -> bool:
    """Whether it moved the locked refund: it paid after all, and nothing else was sent. Raises RefundContradiction when
    something was: the payer may be paid twice, and people must look."""
    check_refund(update, refund["amount_minor"], refund["currency"])
    if update.status != "processed":
        STALE_EVENTS.labels(f"refund.{update.status}").inc()
        return False
    if refund["status"] != "pending" and refund["status"] not in FAILED_STATUSES:
        raise RefundContradiction(
            f"a failed attempt was paid out while the refund is {refund['status']} by another one"
        )
    await settle_refund(uow, refund, attempt_id, update.gateway_refund_id, now)
    return True
