"""Record that the gateway declined an attempt to pay (contract section 7.6)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from contracts.payments import PaymentFailed
from payments import store
from payments.domain.errors import SubjectUnknown
from payments.domain.failures import failure_reason_of
from payments.domain.webhooks import text_of


async def record_failed_payment(
    uow: UnitOfWork, told: Mapping[str, Any], *, is_last_attempt: bool, now: datetime
) -> bool:
    """Whether the payment became `failed`; the buyer may then open another one, under a new reference.

    After a success, and for an attempt whose order ended, it is stale. No money moves: a later success of the same reference is
    settled like any other. Raises SubjectUnknown for a reference that is not known, or not yet open, while attempts are left.
    """
    reference = text_of(told.get("reference"))
    attempt = None if reference is None else await store.lock_attempt(uow, reference)
    is_early = reference is not None and (attempt is None or attempt["status"] == "opening")
    if is_early and not is_last_attempt:
        raise SubjectUnknown("no open payment of ours has this reference yet")
    if attempt is None or told.get("status", "failed") != "failed":
        return False
    if attempt["status"] == "failed":
        return False
    reason = failure_reason_of(told)
    is_present = attempt["reference"] == reference
    if not is_present or not await store.save_intent_failed(uow, attempt["id"], reason, now):
        STALE_EVENTS.labels("charge.failed").inc()
        return False
    uow.publish(
        PaymentFailed(
            order_id=attempt["order_id"],
            buyer_id=attempt["buyer_id"],
            payment_id=attempt["id"],
            reference=attempt["reference"],
            amount_minor=attempt["amount_minor"],
            currency=attempt["currency"],
            failure_reason=reason,
        )
    )
    return True
