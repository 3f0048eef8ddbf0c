"""Dead-lettered webhooks."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import concerns_money
from common.messaging.shown_payloads import show_webhook
from common.primitives.ids import parse_uuid
from common.standard_endpoints.dead_letter_trail import SAME_EVENT_MAX, history_of
from common.standard_endpoints.dead_webhooks import DeadLetterWebhook, DeadLetterWebhookDetails
from common.web.pages import Found, OffsetPage
from payments.domain.queues import WEBHOOK_QUEUE

_DEAD: Final = """
FROM dead_letter_webhooks d JOIN processed_webhook_events w ON w.id = d.webhook_id
LEFT JOIN dead_letter_closures c ON c.dead_letter_id = d.id
LEFT JOIN dead_letter_actions r ON r.dead_letter_id = d.id AND r.action = 'closure_requested'
"""
_FILTER: Final = f"""
{_DEAD}
WHERE ($1::text IS NULL OR d.event_type = $1) AND ($2::text IS NULL OR w.outcome = $2)
  AND ($3::text IS NULL OR d.webhook_id = $3)
"""
_COLUMNS: Final = """
SELECT d.id, d.webhook_id AS event_id, d.provider, d.event_type, d.payload, d.error, d.attempts, d.failed_at,
       d.replayed_at, d.closed_at, c.closed_by, c.reason AS close_reason, r.acted_by AS closure_requested_by, w.outcome
"""
_FIND: Final = f"""
{_COLUMNS} {_DEAD} WHERE d.id = $1 OR d.webhook_id = $2
ORDER BY (d.id = $1) DESC NULLS LAST, d.failed_at DESC, d.id LIMIT 1
"""
_OF_EVENT: Final = f"""
SELECT id, failed_at, error, replayed_at FROM dead_letter_webhooks WHERE webhook_id = $1
ORDER BY failed_at DESC LIMIT {SAME_EVENT_MAX}
"""


async def page_of_dead_webhooks(
    uow: UnitOfWork, page: OffsetPage, event_type: str | None, outcome: str | None, event_id: str | None
) -> Found[DeadLetterWebhook]:
    """Dead webhooks by event type, outcome (`dead` waits for a replay) and event id."""
    filters = (event_type, outcome, event_id)
    total = await uow.fetch_value(f"SELECT count(*) {_FILTER}", *filters)
    order = page.order_by({"created_at": "d.failed_at"}[page.sort], "d.id")
    rows = await uow.fetch(f"{_COLUMNS} {_FILTER} {order} LIMIT $4 OFFSET $5", *filters, page.limit, page.offset)
    return [
        DeadLetterWebhook.from_row(row, service="payments", subject=show_webhook(row["payload"]).subject)
        for row in rows
    ], total


async def find_dead_webhook(uow: UnitOfWork, key: str) -> DeadLetterWebhookDetails | None:
    """Return the dead webhook of this id, else the newest one of the event of this id."""
    row = await uow.fetch_row(_FIND, parse_uuid(key), key)
    if row is None:
        return None
    shown = show_webhook(row["payload"])
    return DeadLetterWebhookDetails.from_row(
        row,
        service="payments",
        subject=shown.subject,
        closed_by_two=concerns_money(WEBHOOK_QUEUE),
        payload=shown.values,
        withheld=shown.withheld,
        history=await history_of(uow, await uow.fetch(_OF_EVENT, row["event_id"])),
    )
