"""Events of the notifications service."""

from typing import ClassVar, Literal
from uuid import UUID

from contracts.event import Event


class DeliverySettled(Event, frozen=True, kw_only=True):
    """A notification reached its final state on a channel."""

    TYPE: ClassVar[str] = "notifications.delivery_settled.v1"
    notification_id: UUID
    user_id: UUID
    channel: Literal["push", "messaging", "sms", "email"]
    status: str


class NotificationShown(Event, frozen=True, kw_only=True):
    """The feed of a user has something new: whoever streams it looks there."""

    TYPE: ClassVar[str] = "notifications.notification_shown.v1"
    user_id: UUID
    notification_id: UUID


class TicketOpened(Event, frozen=True, kw_only=True):
    """Somebody asks support for help; without `user_id` from a telephone number that belongs to nobody we know."""

    TYPE: ClassVar[str] = "notifications.ticket_opened.v1"
    ticket_id: UUID
    source: Literal["app", "messaging"]
    user_id: UUID | None = None
