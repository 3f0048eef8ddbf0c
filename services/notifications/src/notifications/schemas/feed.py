"""Request and response models of the feed (contract section 12)."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.web.schemas import Instant, RequestBody, ResponseShape
from notifications.domain.subjects import SubjectKind
from notifications.schemas.deliveries import Template


class NotificationSubject(ResponseShape):
    """What a client opens for the notification. A dispute has the id of its order."""

    kind: SubjectKind
    id: UUID
    order_id: Annotated[UUID, Field(description="The order that it belongs to; absent without one.")] | None = None


class Notification(ResponseShape):
    """A notification of the feed."""

    id: UUID
    template: Template
    title: str
    body: str
    created_at: datetime
    read_at: datetime | None
    subject: Annotated[NotificationSubject | None, Field(description="Null for notifications of earlier versions.")]


class UnreadCount(ResponseShape):
    unread_count: int


class MarkAllReadRequest(RequestBody):
    """Marks notifications up to and including `before`, or all of them."""

    before: Instant | None = None


class MarkedRead(ResponseShape):
    """The number of notifications that became read."""

    read: int
