"""Apply the gateway's update to a recorded refund that was made outside."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.lifecycles import Rejection
from payments.domain import postings
from payments.domain.refunds import RefundUpdate, trigger_of_outside
from payments.domain.transitions import REFUND
from payments.store import refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.outside_refunds.return_outside_refund import return_outside_refund


async def apply_outside_update(uow: UnitOfWork, refund: LockedRefund, update: RefundUpdate, now: datetime) -> bool:
    """Return whether the update changed the refund: paid, or returned to the order. Both are final."""
    after = REFUND.next_state(refund.status, trigger_of_outside(update))
    if isinstance(after, Rejection):
        if after is Rejection.STALE:
            STALE_EVENTS.labels(f"refund.{update.status}").inc()
        return False
    if after == "settled":
        await ledger.post(
            uow, postings.refund_settled(refund.id, refund.attempt_id, refund.amount_minor, refund.currency)
        )
        await refunds.save_refund_settled(uow, refund.id, now, update.gateway_refund_id)
    else:
        await return_outside_refund(uow, refund, update.failure or "the gateway gave no reason", now)
    return True
