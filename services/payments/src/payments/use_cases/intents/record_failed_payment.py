"""Record a declined attempt to pay (contract section 7.6)."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from common.primitives.lifecycles import Rejection
from contracts.payments import PaymentFailed
from payments.domain.charges import Charge
from payments.domain.errors import SubjectUnknown
from payments.domain.failures import safe_reason
from payments.domain.transitions import PAYMENT
from payments.store import intents
from payments.use_cases.balances.return_hold import return_hold


async def record_failed_payment(uow: UnitOfWork, charge: Charge, *, is_last_attempt: bool, now: datetime) -> bool:
    """Return whether the payment became `failed`. The buyer may then open another attempt under a new reference.

    A failure after a success or after the order's end is stale. A later success of the reference is settled as usual.
    Raises SubjectUnknown for a reference that is unknown, or not opened yet, while attempts remain.
    """
    intent = await intents.lock_attempt(uow, charge.reference)
    if (intent is None or intent.status == "opening") and not is_last_attempt:
        raise SubjectUnknown("no open payment of ours has this reference yet")
    after = None if intent is None else PAYMENT.next_state(intent.status, "declined")
    if intent is None or after is Rejection.REPEATED:
        return False
    reason = safe_reason(charge.failure_reason)
    is_current = intent.reference == charge.reference
    if not is_current or not await intents.save_intent_failed(uow, intent.id, reason, now):
        STALE_EVENTS.labels("charge.failed").inc()
        return False
    if intent.balance_minor:
        await return_hold(uow, intent.id, now)
    uow.publish(
        PaymentFailed(
            order_id=intent.order_id,
            buyer_id=intent.buyer_id,
            payment_id=intent.id,
            reference=intent.reference,
            amount_minor=intent.amount_minor,
            currency=intent.currency,
            failure_reason=reason,
            reason=reason,
            number=intent.order_number,
            purchase_id=intent.purchase_id,
        )
    )
    return True
