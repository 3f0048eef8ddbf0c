"""Response models of deliveries and their attempts (contract section 12)."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from contracts.channels import Channel
from notifications.deliveries.domain.statuses import Status
from notifications.deliveries.schemas.deliveries import Template


class NotificationDelivery(ResponseModel, omit_defaults=True):
    """The status of the delivery: `queued` after the request, later `sent`, `delivered`, `read`, `failed` or
    `bounced`.
    """

    notification_id: UUID
    status: Literal["queued", Status]
    provider_message_id: str | None = None


class DeliveryLog(ResponseModel):
    """One delivery attempt. The recipient is masked, and the message itself is not stored."""

    id: UUID
    notification_id: UUID
    user_id: UUID | None
    channel: Channel
    template: Template
    recipient: Annotated[str, Meta(description="The recipient, masked.")]
    status: Literal["sending", "unknown", Status]
    provider: str | None
    provider_message_id: str | None
    error: str | None
    attempted_at: Annotated[Timestamp, Meta(description="The time of the attempt.")]
    told_at: Annotated[Timestamp | None, Meta(description="The time at which the result was published; null before.")]
