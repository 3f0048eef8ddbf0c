"""Record what the gateway says about a refund: paid out, failed, or still under way."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from common import ledger
from common.database import UnitOfWork
from common.ids import new_id
from common.telemetry import STALE_NEWS
from contracts.operations import AlertRaised
from contracts.payments import RefundFailed, RefundSettled
from payments import store
from payments.domain import postings
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import refund_of_note
from payments.domain.refunds import FIRST_QUESTION_AFTER, RefundNews, check_refund, read_refund


async def record_refund_news(uow: UnitOfWork, told: Mapping[str, Any], status: str | None, now: datetime) -> bool:
    """Whether it moved our refund. Raises SubjectUnknown (our own call has not returned yet, or not a refund of ours),
    RefundContradiction and NewsUnreadable."""
    news = read_refund(told, status)
    refund = await _find(uow, news)
    if refund is None:
        raise SubjectUnknown("no refund of ours is known to the gateway under this id")
    check_refund(news, refund["amount_minor"], refund["currency"])
    return await apply_refund_news(uow, refund, news, now)


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


async def fail_refund(uow: UnitOfWork, refund: asyncpg.Record, failure: str, gateway_refund_id: str | None) -> None:
    """The money stays owed in refund_payable until staff decide; on-call hears of it (contract section 6)."""
    refund_id: UUID = refund["id"]
    await store.save_refund_failed(uow, refund_id, failure, gateway_refund_id)
    uow.publish(
        RefundFailed(
            refund_id=refund_id,
            kind=refund["kind"],
            amount_minor=refund["amount_minor"],
            order_id=refund["order_id"],
            buyer_id=refund["buyer_id"],
        )
    )
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Refund failed: {refund['kind']}",
            detail=f"{refund['amount_minor']} kobo stay owed to the buyer. The gateway says: {failure}",
            runbook="refund-failed",
            dedup_key=f"refund-failed:{refund_id}",
            about=str(refund_id),
        ),
        source="payments",
    )


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


async def _find(uow: UnitOfWork, news: RefundNews) -> asyncpg.Record | None:
    """By our own note first: it is there before the gateway's id has come back to us."""
    ours = refund_of_note(news.note)
    if ours is not None:
        refund = await store.lock_refund(uow, ours)
        if refund is not None:
            return refund
    if news.gateway_refund_id is None:
        return None
    return await store.lock_refund_of_gateway(uow, news.gateway_refund_id)
