"""Send a test event to an endpoint."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from notifications.webhooks import store
from notifications.webhooks.domain.errors import WebhookEndpointDisabled
from notifications.webhooks.domain.webhook_events import sample_event


async def send_test_event(uow: UnitOfWork, endpoint_id: UUID, now: datetime) -> UUID:
    """Queue a signed event of type `notifications.webhook_test.v1`; return the id of its delivery.

    It has one attempt, whose failure never disables the endpoint. Raises NotFound and WebhookEndpointDisabled.
    """
    endpoint = await store.find_webhook_endpoint_for_update(uow, endpoint_id)
    if endpoint is None:
        raise NotFound
    if endpoint.status == "disabled":
        raise WebhookEndpointDisabled
    event, delivery_id = sample_event(new_id(), endpoint_id, endpoint.vendor_id, now), new_id()
    await store.insert_webhook_test(uow, event, endpoint_id, delivery_id, now)
    return delivery_id
