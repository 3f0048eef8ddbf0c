"""Events of the notifications service."""

from typing import ClassVar, Literal
from uuid import UUID

import msgspec

from contracts.channels import Channel
from contracts.event import Event
from contracts.numbers import TicketNumber


class DeliverySettled(Event, frozen=True, kw_only=True):
    """A notification reached a state on a channel. Published while a team names this type in the list of
    subscribers.
    """

    TYPE: ClassVar[str] = "notifications.delivery_settled.v1"
    notification_id: UUID
    user_id: UUID
    channel: Channel
    status: str


class NotificationShown(Event, frozen=True, kw_only=True):
    """A user's feed has a new notification; processes that stream the feed reload it."""

    TYPE: ClassVar[str] = "notifications.notification_shown.v1"
    user_id: UUID
    notification_id: UUID


class CartLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of a cart: the id of a product or of a variant as the messaging app's catalog names it."""

    retailer_id: str
    quantity: int


class CartReceived(Event, frozen=True, kw_only=True):
    """A user with a proven number sent a cart in the messaging app. It becomes the purchase draft with this id.

    The prices of the message are not part of it.
    """

    TYPE: ClassVar[str] = "notifications.cart_received.v1"
    draft_id: UUID
    user_id: UUID
    items: tuple[CartLine, ...]


class TicketOpened(Event, frozen=True, kw_only=True):
    """A request to support was received; without `user_id` from a telephone number of no known user.

    `number` is the ticket's number for people; absent in events of earlier versions.
    """

    TYPE: ClassVar[str] = "notifications.ticket_opened.v1"
    ticket_id: UUID
    source: Literal["app", "messaging"]
    user_id: UUID | None = None
    number: TicketNumber | None = None
