"""Reads of outgoing webhooks for their owners."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.standard_endpoints.personal_records import Section
from common.web.pages import CursorPage, CursorRequest, created_position, cursor_page, position_in_time
from notifications.webhooks import responses
from notifications.webhooks.domain.webhooks import DeliveryStatus, WebhookEndpoint

_SHOWN: Final = """
SELECT id, vendor_id, url, event_types, description, status, disabled_reason, created_at FROM webhook_endpoints
"""
_ENDPOINT: Final = f"{_SHOWN} WHERE id = $1"
_ENDPOINTS: Final = f"""
{_SHOWN}
WHERE $1::timestamptz IS NULL OR (created_at, id) < ($1, $2)
ORDER BY created_at DESC, id DESC LIMIT $3
"""
_IS_VISIBLE: Final = "SELECT EXISTS (SELECT FROM webhook_endpoints WHERE id = $1)"
_DELIVERY: Final = """
SELECT delivery.id, delivery.event_id, event.type AS event_type, delivery.status, delivery.attempts,
    delivery.next_attempt_at, delivery.response_status, delivery.response_excerpt, delivery.error, delivery.created_at,
    delivery.finished_at
FROM webhook_deliveries AS delivery JOIN webhook_events AS event ON event.id = delivery.event_id
"""
_ONE_DELIVERY: Final = f"{_DELIVERY} WHERE delivery.id = $1"
_DELIVERIES: Final = f"""
{_DELIVERY}
WHERE delivery.endpoint_id = $1 AND ($2::text IS NULL OR delivery.status = $2)
    AND ($3::timestamptz IS NULL OR (delivery.created_at, delivery.id) < ($3, $4))
ORDER BY delivery.created_at DESC, delivery.id DESC LIMIT $5
"""
_EVENTS_SINCE: Final = """
SELECT id FROM webhook_events
WHERE recorded_at >= $1 AND type = ANY ($2) AND ($3::uuid IS NULL OR vendor_id = $3)
ORDER BY recorded_at LIMIT $4
"""
_EVENT: Final = """
SELECT id FROM webhook_events WHERE id = $1 AND recorded_at >= $2 AND ($3::uuid IS NULL OR vendor_id = $3)
"""
# Of the personal data export.
SECTIONS: Final = (
    Section(
        "webhookEndpoints",
        "SELECT id::text AS place, id, url, event_types, description, status, created_at "
        "FROM webhook_endpoints WHERE created_by = $1",
        past_policies=True,
    ),
)


async def page_of_webhook_endpoints(
    uow: UnitOfWork, requested: CursorRequest, scope: Sequence[object]
) -> CursorPage[responses.WebhookEndpoint]:
    """Return one page of the endpoints that the caller may see, newest first."""
    at, last_id = requested.time_position(scope) or (None, None)
    rows = [WebhookEndpoint(*row) for row in await uow.fetch(_ENDPOINTS, at, last_id, requested.limit + 1)]
    return cursor_page(requested, scope, rows, position_of=created_position, item_of=webhook_endpoint_response)


async def find_webhook_endpoint(uow: UnitOfWork, endpoint_id: UUID) -> responses.WebhookEndpoint | None:
    """Return the endpoint; None for one that the caller does not see."""
    row = await uow.fetch_row(_ENDPOINT, endpoint_id)
    return None if row is None else webhook_endpoint_response(WebhookEndpoint(*row))


async def is_webhook_endpoint_visible(uow: UnitOfWork, endpoint_id: UUID) -> bool:
    """Return whether the caller may see the endpoint."""
    return bool(await uow.fetch_value(_IS_VISIBLE, endpoint_id))


async def page_of_webhook_deliveries(
    uow: UnitOfWork,
    requested: CursorRequest,
    scope: Sequence[object],
    endpoint_id: UUID,
    status: DeliveryStatus | None,
) -> CursorPage[responses.WebhookDelivery]:
    """Return one page of the endpoint's deliveries, newest first."""
    at, last_id = requested.time_position(scope) or (None, None)
    rows = await uow.fetch(_DELIVERIES, endpoint_id, status, at, last_id, requested.limit + 1)
    return cursor_page(
        requested,
        scope,
        rows,
        position_of=lambda row: position_in_time(row["created_at"], row["id"]),
        item_of=responses.WebhookDelivery.from_row,
    )


async def get_webhook_delivery(uow: UnitOfWork, delivery_id: UUID) -> responses.WebhookDelivery:
    """Return a delivery that the transaction has queued."""
    [row] = await uow.fetch(_ONE_DELIVERY, delivery_id)
    return responses.WebhookDelivery.from_row(row)


async def list_webhook_events_since(
    uow: UnitOfWork, endpoint: WebhookEndpoint, since: datetime, events_max: int
) -> list[UUID]:
    """Return the ids of the stored events since a time that the endpoint receives, oldest first."""
    rows = await uow.fetch(_EVENTS_SINCE, since, endpoint.event_types, endpoint.vendor_id, events_max)
    return [event_id for (event_id,) in rows]


async def find_webhook_event(
    uow: UnitOfWork, endpoint: WebhookEndpoint, event_id: UUID, oldest: datetime
) -> UUID | None:
    """Return the id of a stored event that the endpoint's owner may receive; None for any other."""
    found: UUID | None = await uow.fetch_value(_EVENT, event_id, oldest, endpoint.vendor_id)
    return found


def webhook_endpoint_response(endpoint: WebhookEndpoint) -> responses.WebhookEndpoint:
    return responses.WebhookEndpoint.from_record(endpoint)
