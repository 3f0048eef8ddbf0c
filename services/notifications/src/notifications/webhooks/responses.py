"""Response models of webhook endpoints (contract section 9.5)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from notifications.webhooks.domain.webhooks import DeliveryStatus, DisabledReason, EndpointStatus


class WebhookEndpoint(ResponseModel):
    """An endpoint without its secret. `vendorId` null: it belongs to the platform and receives all events.

    `disabledReason`: `owner`, `gone` (it responded 410) or `failing` (no success for five days).
    """

    id: UUID
    vendor_id: UUID | None
    url: str
    event_types: list[str]
    description: str
    status: EndpointStatus
    disabled_reason: DisabledReason | None
    created_at: Timestamp


class WebhookEndpointWithSecret(WebhookEndpoint):
    """`secret` verifies the signatures. It is shown at creation and rotation only."""

    secret: str


class WebhookReplay(ResponseModel):
    """The number of events that are queued again."""

    queued: int


class WebhookDelivery(ResponseModel):
    """An event for one endpoint. `eventId` is the `webhook-id`; the last attempt shows status or error."""

    id: UUID
    event_id: UUID
    event_type: str
    status: DeliveryStatus
    attempts: int
    next_attempt_at: Annotated[Timestamp | None, Meta(description="The time of the next attempt; null after the last.")]
    response_status: Annotated[int | None, Meta(description="The status of the last response; null without one.")]
    response_excerpt: Annotated[
        str | None, Meta(description="The first characters of the last response's body; null without one.")
    ]
    error: str | None
    created_at: Timestamp
    finished_at: Timestamp | None
