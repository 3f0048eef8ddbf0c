"""Apply news of the gateway to the present attempt of a refund in hand."""

from datetime import datetime

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from payments import store
from payments.domain import postings
from payments.domain.refunds import FAILED_STATUSES, FIRST_QUESTION_AFTER, RefundUpdate
from payments.use_cases.refunds.fail_refund import fail_refund
from payments.use_cases.refunds.settle_refund import settle_refund


async def apply_refund_update(
    uow: UnitOfWork, refund: asyncpg.Record, update: RefundUpdate, now: datetime, *, is_answer: bool = False
) -> bool:
    """Whether it moved the locked refund. `is_answer`: the gateway was asked, so this is how things stand now.

    Settled is final, unless a bank sends a transfer back. A payout told after a failure still settles the refund.
    """
    standing = refund["status"]
    if standing == "settled" and update.status == "reversed":
        await _reverse_settlement(uow, refund, update)
    elif standing == "settled" or (standing in FAILED_STATUSES and update.status != "processed"):
        STALE_EVENTS.labels(f"refund.{update.status}").inc()
        return False
    elif standing in FAILED_STATUSES and refund["recipient_code"] is not None and not is_answer:
        # `transfer.success` after `transfer.reversed`, late or a contradiction: only the gateway knows what came last.
        await store.save_refund_question(uow, refund["id"], now)
    elif update.status == "processed":
        await settle_refund(uow, refund, refund["attempt_id"], update.gateway_refund_id, now)
    elif update.status in ("failed", "reversed"):
        await fail_refund(uow, refund, update.failure or "the gateway gave no reason", update.gateway_refund_id)
    elif update.gateway_refund_id is not None and standing != "submitted":
        await store.save_refund_submitted(uow, refund["id"], update.gateway_refund_id, now + FIRST_QUESTION_AFTER)
    else:
        return False
    return True


async def _reverse_settlement(uow: UnitOfWork, refund: asyncpg.Record, update: RefundUpdate) -> None:
    """`reversed` after `success` is no stale news (contract section 14.4): the money is here again, and owed again."""
    await ledger.post(
        uow,
        postings.refund_reversed(refund["id"], refund["attempt_id"], refund["amount_minor"], refund["currency"]),
    )
    await fail_refund(uow, refund, update.failure or "the bank sent it back", update.gateway_refund_id)
