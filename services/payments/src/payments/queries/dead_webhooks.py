"""Webhooks that the retry ladder could not bring through."""

from common.clock import iso, iso_or_none
from common.database import UnitOfWork
from common.http import OffsetPage
from payments.queries.pages import Page, ordered


async def page_of_dead_webhooks(uow: UnitOfWork, page: OffsetPage) -> Page:
    total = await uow.fetch_value("SELECT count(*) FROM dead_letter_webhooks")
    order = ordered(page, {"created_at": "d.failed_at"}, "d.id")
    rows = await uow.fetch(
        f"""
        SELECT d.id, d.webhook_id, d.event_type, d.error, d.attempts, d.failed_at, d.replayed_at, w.outcome
        FROM dead_letter_webhooks d JOIN processed_webhook_events w ON w.id = d.webhook_id
        {order} LIMIT $1 OFFSET $2
        """,
        page.limit,
        page.offset,
    )
    return [
        {
            "id": row["id"],
            "service": "payments",
            "eventId": row["webhook_id"],
            "eventType": row["event_type"],
            "error": row["error"],
            "attempts": row["attempts"],
            "outcome": row["outcome"],
            "failedAt": iso(row["failed_at"]),
            "replayedAt": iso_or_none(row["replayed_at"]),
        }
        for row in rows
    ], total
