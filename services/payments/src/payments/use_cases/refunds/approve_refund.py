"""Approve the prepared decision about a failed refund."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import AlreadyDecided
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.store import refund_attempts, refunds
from payments.store.decisions import REFUND_DECISIONS
from payments.use_cases.alerts import clear_refund_alert
from payments.use_cases.outside_refunds.steps import correct_outside_refund
from payments.use_cases.refunds.enqueue_refund import enqueue_refund


async def approve_refund(uow: UnitOfWork, refund_id: UUID, approved_hash: str, by: UUID, now: datetime) -> None:
    """Record a new attempt under a new reference once, as the decision with this hash states; for a refund that needs
    the payer's account, record the account. The alert of the failure is cleared. A refund made outside is corrected.

    Its submission first confirms at the gateway that the failed attempt is final. Raises NotFound, and the errors of
    `evaluate_approval`.
    """
    refund = await refunds.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    decision = await REFUND_DECISIONS.approve(uow, refund_id, approved_hash, by, now)
    if decision is None:
        if refund.status == "failed":
            # The approved attempt failed too: that approval is used up.
            raise AlreadyDecided("approved, and failed again")
        return
    if refund.kind == "outside":
        await correct_outside_refund(uow, refund, now)
        return
    if refund.needs_account and decision.recipient_code is not None:
        # The gateway still has the refund: it is retried there, and never replaced by a second one.
        await refunds.save_account_approved(uow, refund_id, decision.recipient_code, now)
    else:
        await refund_attempts.replace_attempt(uow, refund_id, new_id(), decision.recipient_code, now)
    clear_refund_alert(uow, refund, "two people decided on the next attempt")
    enqueue_refund(uow, refund_id)
