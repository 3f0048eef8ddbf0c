"""Record an update about a failed attempt that another one has replaced."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments.domain.errors import RefundContradiction
from payments.domain.refunds import RefundUpdate, check_refund
from payments.domain.transitions import REFUND
from payments.store.refund_attempts import restore_attempt
from payments.store.refunds import LockedRefund
from payments.use_cases.refunds.record_transfer_fee import record_transfer_fee
from payments.use_cases.refunds.settle_refund import settle_refund


async def record_replaced_attempt(
    uow: UnitOfWork, refund: LockedRefund, attempt_id: UUID, update: RefundUpdate, now: datetime
) -> bool:
    """Return whether the update changed the locked refund: the attempt paid after all, and no other was sent.

    It is the current attempt again, so that later reports about it count: the bank may return the money.
    Raises RefundContradiction when another was sent, or when it paid more than the refund is now: the payer may be paid
    twice, and staff must check.
    """
    has_new_fee = await record_transfer_fee(uow, attempt_id, update, is_queried=False)
    if update.status != "processed":
        STALE_EVENTS.labels(f"refund.{update.status}").inc()
        return has_new_fee
    # The attempt was over more when a lost chargeback has returned a part since.
    check_refund(update, refund.amount_minor, refund.currency)
    if not REFUND.allows(refund.status, "replaced_attempt_paid"):
        raise RefundContradiction(f"a failed attempt was paid out while another attempt is {refund.status}")
    await restore_attempt(uow, refund.id, attempt_id, now)
    await settle_refund(uow, refund, attempt_id, update.gateway_refund_id, now)
    return True
