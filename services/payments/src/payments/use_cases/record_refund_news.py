"""Record what the gateway says about a refund: paid out, failed, or still under way."""

from datetime import datetime
from uuid import UUID

import asyncpg

from common.database import UnitOfWork
from payments import store
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundNews, check_refund
from payments.use_cases.apply_refund_news import apply_refund_news
from payments.use_cases.hear_of_failed_attempt import hear_of_failed_attempt


async def record_refund_news(uow: UnitOfWork, news: RefundNews, now: datetime) -> bool:
    """Whether it moved our refund. Raises SubjectUnknown (our own call has not returned yet, or not a refund of ours) and
    RefundContradiction."""
    found = await _find(uow, news)
    if found is None:
        raise SubjectUnknown("no refund of ours is known to the gateway under this id")
    refund, attempt_id = found
    if attempt_id != refund["attempt_id"]:
        return await hear_of_failed_attempt(uow, refund, attempt_id, news, now)
    check_refund(news, refund["amount_minor"], refund["currency"])
    return await apply_refund_news(uow, refund, news, now)


async def _find(uow: UnitOfWork, news: RefundNews) -> tuple[asyncpg.Record, UUID] | None:
    """The locked refund and the attempt that is spoken of; by our own reference first: it is there before the gateway's id
    has come back to us."""
    ours = attempt_of_reference(news.note)
    if ours is not None:
        refund = await store.lock_refund_of_attempt(uow, ours)
        if refund is not None:
            return refund, ours
    if news.gateway_refund_id is None:
        return None
    refund = await store.lock_refund_of_gateway(uow, news.gateway_refund_id)
    if refund is None:
        return None
    if refund["gateway_refund_id"] == news.gateway_refund_id:
        return refund, refund["attempt_id"]
    attempt_id = await store.find_attempt_of_gateway(uow, news.gateway_refund_id)
    return None if attempt_id is None else (refund, attempt_id)
