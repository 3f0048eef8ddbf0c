"""Record a declined attempt to pay (contract section 7.6)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from contracts.payments import PaymentFailed
from payments.domain.errors import SubjectUnknown
from payments.domain.failures import failure_reason_of
from payments.domain.webhooks import text_of
from payments.store import intents


async def record_failed_payment(
    uow: UnitOfWork, data: Mapping[str, Any], *, is_last_attempt: bool, now: datetime
) -> bool:
    """Whether the payment became `failed`. The buyer may then open another attempt under a new reference.

    A failure after a success or after the order's end is stale. A later success of the reference is settled as usual.
    Raises SubjectUnknown for a reference that is unknown, or not opened yet, while attempts remain.
    """
    reference = text_of(data.get("reference"))
    intent = None if reference is None else await intents.lock_attempt(uow, reference)
    if reference is not None and (intent is None or intent.status == "opening") and not is_last_attempt:
        raise SubjectUnknown("no open payment of ours has this reference yet")
    if intent is None or data.get("status", "failed") != "failed" or intent.status == "failed":
        return False
    reason = failure_reason_of(data)
    is_current = intent.reference == reference
    if not is_current or not await intents.save_intent_failed(uow, intent.id, reason, now):
        STALE_EVENTS.labels("charge.failed").inc()
        return False
    uow.publish(
        PaymentFailed(
            order_id=intent.order_id,
            buyer_id=intent.buyer_id,
            payment_id=intent.id,
            reference=intent.reference,
            amount_minor=intent.amount_minor,
            currency=intent.currency,
            failure_reason=reason,
        )
    )
    return True
