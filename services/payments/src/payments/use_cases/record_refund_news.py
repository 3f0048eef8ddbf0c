"""Record what the gateway says about a refund: paid out, failed, or still under way."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import asyncpg

from common.database import UnitOfWork
from payments import store
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import refund_of_note
from payments.domain.refunds import RefundNews, check_refund, read_refund
from payments.use_cases.apply_refund_news import apply_refund_news


async def record_refund_news(uow: UnitOfWork, told: Mapping[str, Any], status: str | None, now: datetime) -> bool:
    """Whether it moved our refund. Raises SubjectUnknown (our own call has not returned yet, or not a refund of ours),
    RefundContradiction and NewsUnreadable."""
    news = read_refund(told, status)
    refund = await _find(uow, news)
    if refund is None:
        raise SubjectUnknown("no refund of ours is known to the gateway under this id")
    check_refund(news, refund["amount_minor"], refund["currency"])
    return await apply_refund_news(uow, refund, news, now)


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
