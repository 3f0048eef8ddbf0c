"""Dead-lettered webhooks of the messaging app."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.standard_endpoints.dead_webhooks import DeadLetterWebhook
from common.web.pages import Found, OffsetPage

# Only processed items and webhooks expire.
_EVENTS: Final = """
FROM dead_letter_webhooks d
LEFT JOIN dead_letter_closures closure ON closure.dead_letter_id = d.id
LEFT JOIN messaging_items item ON item.id = d.event_id
LEFT JOIN processed_webhook_events webhook ON webhook.id = d.event_id
CROSS JOIN LATERAL (SELECT coalesce(item.outcome, webhook.outcome, 'done') AS outcome) AS event
"""
_FILTER: Final = f"""
{_EVENTS}
WHERE ($1::text IS NULL OR d.event_type = $1) AND ($2::text IS NULL OR event.outcome = $2)
  AND ($3::text IS NULL OR d.event_id = $3)
"""
AWAITING_DEAD_WEBHOOKS: Final = f"""
SELECT d.failed_at AS since, NULL::timestamptz AS due {_EVENTS} WHERE event.outcome = 'dead'
"""


async def page_of_dead_webhooks(
    uow: UnitOfWork, page: OffsetPage, event_type: str | None, outcome: str | None, event_id: str | None
) -> Found[DeadLetterWebhook]:
    """Return dead webhooks by event type, outcome (`dead` waits for a replay) and event id, and their total number."""
    filters = (event_type, outcome, event_id)
    total = await uow.fetch_value(f"SELECT count(*) {_FILTER}", *filters)
    order = page.order_by({"created_at": "d.failed_at"}[page.sort], "d.id")
    rows = await uow.fetch(
        f"""
        SELECT d.id, d.event_id, d.provider, d.event_type, d.error, d.attempts, d.failed_at, d.replayed_at, d.closed_at,
               closure.closed_by, closure.reason AS close_reason, event.outcome
        {_FILTER} {order} LIMIT $4 OFFSET $5
        """,
        *filters,
        page.limit,
        page.offset,
    )
    return [DeadLetterWebhook.from_row(row, service="notifications") for row in rows], total
