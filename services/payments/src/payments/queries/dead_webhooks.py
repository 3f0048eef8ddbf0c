"""Dead-lettered webhooks."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.standard_endpoints.dead_webhooks import DeadLetterWebhook
from common.web.pages import Found, OffsetPage

_FILTER: Final = """
FROM dead_letter_webhooks d JOIN processed_webhook_events w ON w.id = d.webhook_id
LEFT JOIN dead_letter_closures c ON c.dead_letter_id = d.id
WHERE ($1::text IS NULL OR d.event_type = $1) AND ($2::text IS NULL OR w.outcome = $2)
  AND ($3::text IS NULL OR d.webhook_id = $3)
"""


async def page_of_dead_webhooks(
    uow: UnitOfWork, page: OffsetPage, event_type: str | None, outcome: str | None, event_id: str | None
) -> Found[DeadLetterWebhook]:
    """Dead webhooks by event type, outcome (`dead` waits for a replay) and event id."""
    filters = (event_type, outcome, event_id)
    total = await uow.fetch_value(f"SELECT count(*) {_FILTER}", *filters)
    order = page.order_by({"created_at": "d.failed_at"}[page.sort], "d.id")
    rows = await uow.fetch(
        f"""
        SELECT d.id, d.webhook_id AS event_id, d.provider, d.event_type, d.error, d.attempts, d.failed_at,
               d.replayed_at, d.closed_at, c.closed_by, c.reason AS close_reason, w.outcome
        {_FILTER} {order} LIMIT $4 OFFSET $5
        """,
        *filters,
        page.limit,
        page.offset,
    )
    return [DeadLetterWebhook.from_row(row, service="payments") for row in rows], total
