"""Dead-lettered webhooks of the messaging app."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import concerns_money
from common.messaging.shown_payloads import show_webhook
from common.primitives.ids import parse_uuid
from common.standard_endpoints.dead_letter_trail import CLOSED_BY, SAME_EVENT_MAX, history_of
from common.standard_endpoints.dead_webhooks import DeadLetterWebhook, DeadLetterWebhookDetails
from common.web.pages import Found, OffsetPage
from notifications.support.store.messaging import SUPPORT_QUEUE

# Only processed items and webhooks expire.
_EVENTS: Final = """
FROM dead_letter_webhooks d
LEFT JOIN dead_letter_closures closure ON closure.dead_letter_id = d.id
LEFT JOIN dead_letter_actions request ON request.dead_letter_id = d.id AND request.action = 'closure_requested'
LEFT JOIN messaging_items item ON item.id = d.event_id
LEFT JOIN processed_webhook_events webhook ON webhook.id = d.event_id
CROSS JOIN LATERAL (SELECT coalesce(item.outcome, webhook.outcome, 'done') AS outcome) AS event
"""
_FILTER: Final = f"""
{_EVENTS}
WHERE ($1::text IS NULL OR d.event_type = $1) AND ($2::text IS NULL OR event.outcome = $2)
  AND ($3::text IS NULL OR d.event_id = $3)
"""
_COLUMNS: Final = f"""
SELECT d.id, d.event_id, d.provider, d.event_type, d.payload, d.error, d.attempts, d.failed_at, d.replayed_at,
       d.closed_at, {CLOSED_BY.format("closure")}, closure.reason AS close_reason,
       request.acted_by AS closure_requested_by, event.outcome
"""
_FIND: Final = f"""
{_COLUMNS} {_EVENTS} WHERE d.id = $1 OR d.event_id = $2
ORDER BY (d.id = $1) DESC NULLS LAST, d.failed_at DESC, d.id LIMIT 1
"""
_OF_EVENT: Final = f"""
SELECT id, failed_at, error, replayed_at FROM dead_letter_webhooks WHERE event_id = $1
ORDER BY failed_at DESC LIMIT {SAME_EVENT_MAX}
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
    rows = await uow.fetch(f"{_COLUMNS} {_FILTER} {order} LIMIT $4 OFFSET $5", *filters, page.limit, page.offset)
    return [DeadLetterWebhook.from_row(row, service="notifications", subject=None) for row in rows], total


async def find_dead_webhook(uow: UnitOfWork, key: str) -> DeadLetterWebhookDetails | None:
    """Return the dead webhook of this id, else the newest one of the event of this id.

    Its payload is a customer's message: only the names of its members are shown.
    """
    row = await uow.fetch_row(_FIND, parse_uuid(key), key)
    if row is None:
        return None
    shown = show_webhook(row["payload"], members=())
    return DeadLetterWebhookDetails.from_row(
        row,
        service="notifications",
        subject=None,
        closed_by_two=concerns_money(SUPPORT_QUEUE),
        payload=shown.values,
        withheld=shown.withheld,
        history=await history_of(uow, await uow.fetch(_OF_EVENT, row["event_id"])),
    )
