"""Apply the gateway's update to the current attempt of a locked refund."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.lifecycles import Rejection
from payments.domain import postings
from payments.domain.refunds import FIRST_POLL_AFTER, RETURNED_STATUSES, RefundUpdate, trigger_of
from payments.domain.transitions import REFUND
from payments.store import refund_attempts, refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import alert_refund, clear_refund_alert
from payments.use_cases.refunds.fail_refund import fail_refund
from payments.use_cases.refunds.record_transfer_fee import record_transfer_fee
from payments.use_cases.refunds.settle_refund import settle_refund


async def apply_refund_update(
    uow: UnitOfWork, refund: LockedRefund, update: RefundUpdate, now: datetime, *, is_polled: bool = False
) -> bool:
    """Return whether the update changed the refund or its fee. A polled update is the gateway's present state.

    Settled is final unless a bank reverses a transfer. A payment after a failure still settles the refund.
    """
    has_new_fee = await record_transfer_fee(uow, refund.attempt_id, update, is_queried=is_polled)
    return await _apply_status(uow, refund, update, now, is_polled) or has_new_fee


async def _apply_status(
    uow: UnitOfWork, refund: LockedRefund, update: RefundUpdate, now: datetime, is_polled: bool
) -> bool:
    trigger = trigger_of(
        update,
        is_transfer=refund.recipient_code is not None,
        needs_account=refund.needs_account,
        has_account=refund.retry_recipient_code is not None,
        is_polled=is_polled,
    )
    after = REFUND.next_state(refund.status, trigger)
    if isinstance(after, Rejection):
        if after is Rejection.STALE:
            STALE_EVENTS.labels(f"refund.{update.status}").inc()
            if is_polled and update.status in RETURNED_STATUSES:
                await refunds.save_polls_finished(uow, refund.id)
        return False
    if after == "submitted":
        await refunds.save_refund_submitted(uow, refund.id, update.gateway_refund_id, now + FIRST_POLL_AFTER)
    elif after == "settled":
        await settle_refund(uow, refund, refund.attempt_id, update.gateway_refund_id, now)
    elif trigger == "transfer_paid":
        await refunds.save_refund_poll(uow, refund.id, now)
    elif after == refund.status:
        # The gateway gave it up: it can be sent again, or to another destination.
        await refunds.save_refund_needs_no_account(uow, refund.id)
        clear_refund_alert(uow, refund, "the gateway gave the refund up")
        alert_refund(uow, refund, update.failure or "the gateway gave the refund up", needs_account=False)
    elif refund.status == "settled":
        await _reverse_settlement(uow, refund, update, now)
    elif trigger == "account_needed":
        failure = "the payer's bank takes no refund: the gateway needs an account of the payer"
        await fail_refund(uow, refund, failure, update.gateway_refund_id, needs_account_at=now)
    else:
        await fail_refund(uow, refund, update.failure or "the gateway gave no reason", update.gateway_refund_id)
    return True


async def _reverse_settlement(uow: UnitOfWork, refund: LockedRefund, update: RefundUpdate, now: datetime) -> None:
    """`reversed` after `success` is not stale (contract section 14.4): the money returned, and is due again."""
    await ledger.post(uow, postings.refund_reversed(refund.id, refund.attempt_id, refund.amount_minor, refund.currency))
    await fail_refund(uow, refund, update.failure or "the bank sent it back", update.gateway_refund_id)
    if await refund_attempts.find_transfer_fee(uow, refund.attempt_id):
        # The gateway may have returned the fee with the money, which only a query reports.
        await refunds.save_refund_poll(uow, refund.id, now)
