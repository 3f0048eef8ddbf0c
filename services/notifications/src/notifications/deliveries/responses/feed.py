"""Response models of the feed (contract section 12)."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from notifications.deliveries.domain.subjects import SubjectKind
from notifications.deliveries.schemas.deliveries import Template


class NotificationSubject(ResponseModel, omit_defaults=True):
    """Resource that a client opens for the notification. A dispute has the id of its order."""

    kind: SubjectKind
    id: UUID
    order_id: Annotated[UUID | None, Meta(description="The order that it belongs to; absent without one.")] = None


class Notification(ResponseModel):
    """A notification of the feed."""

    id: UUID
    template: Template
    title: str
    body: Annotated[str, Meta(description="The text.")]
    created_at: Timestamp
    read_at: Annotated[Timestamp | None, Meta(description="The time at which it was read; null before.")]
    subject: Annotated[NotificationSubject | None, Meta(description="Null for notifications of earlier versions.")]


class PostedMessage(ResponseModel):
    """A message of a conversation, in the stream of its reader; the conversation has its text."""

    id: UUID
    conversation_id: UUID
    author: Literal["buyer", "vendor"]
    created_at: Timestamp


class UnreadCount(ResponseModel):
    unread_count: Annotated[int, Meta(description="The number of unread notifications.")]


class MarkedRead(ResponseModel):
    """The number of notifications that became read."""

    read: Annotated[int, Meta(description="The number of notifications that became read.")]
