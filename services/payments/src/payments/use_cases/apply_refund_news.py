"""Apply news of the gateway to a refund in hand."""

from datetime import datetime
from uuid import UUID

import asyncpg

from common import ledger
from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from contracts.payments import RefundSettled
from payments import store
from payments.domain import postings
from payments.domain.refunds import FIRST_QUESTION_AFTER, RefundNews
from payments.use_cases.fail_refund import fail_refund


async def apply_refund_news(uow: UnitOfWork, refund: asyncpg.Record, news: RefundNews, now: datetime) -> bool:
    """Moves a locked refund by the news. Settled is terminal; a payout told after a failure still settles it."""
    standing = refund["status"]
    if standing == "settled" or (standing == "failed" and news.status != "processed"):
        STALE_NEWS.labels(f"refund.{news.status}").inc()
        return False
    if news.status == "processed":
        await _settle(uow, refund, news.gateway_refund_id, now)
    elif news.status == "failed":
        await fail_refund(uow, refund, news.failure or "the gateway gave no reason", news.gateway_refund_id)
    elif news.gateway_refund_id is not None and standing != "submitted":
        await store.save_refund_submitted(uow, refund["id"], news.gateway_refund_id, now + FIRST_QUESTION_AFTER)
    else:
        return False
    return True


async def _settle(uow: UnitOfWork, refund: asyncpg.Record, gateway_refund_id: str | None, now: datetime) -> None:
    refund_id: UUID = refund["id"]
    await ledger.post(uow, postings.refund_settled(refund_id, refund["amount_minor"]))
    await store.save_refund_settled(uow, refund_id, now, gateway_refund_id)
    uow.publish(
        RefundSettled(
            refund_id=refund_id,
            kind=refund["kind"],
            amount_minor=refund["amount_minor"],
            order_id=refund["order_id"],
            buyer_id=refund["buyer_id"],
        )
    )
