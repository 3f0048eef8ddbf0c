"""Apply the gateway's update to a recorded refund that was made outside."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from payments.domain import postings
from payments.domain.refunds import RETURNED_STATUSES, RefundUpdate
from payments.store import refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.outside_refunds.return_outside_refund import return_outside_refund


async def apply_outside_update(uow: UnitOfWork, refund: LockedRefund, update: RefundUpdate, now: datetime) -> bool:
    """Whether the update changed the refund: paid, or returned to the order. Both are final."""
    if refund.status != "submitted":
        STALE_EVENTS.labels(f"refund.{update.status}").inc()
        return False
    if update.status == "processed":
        await ledger.post(
            uow, postings.refund_settled(refund.id, refund.attempt_id, refund.amount_minor, refund.currency)
        )
        await refunds.save_refund_settled(uow, refund.id, now, update.gateway_refund_id)
        return True
    if update.status in RETURNED_STATUSES:
        await return_outside_refund(uow, refund, update.failure or "the gateway gave no reason", now)
        return True
    return False
