"""Record notifications with their deliveries, which are their places in the queue."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, cast, get_args
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.channels import Channel
from notifications.deliveries.clients.delivery_sender import ChannelProvider, ClaimedDelivery
from notifications.deliveries.domain.devices import DeviceKind
from notifications.deliveries.domain.errors import NotificationIdConflict
from notifications.deliveries.store.deliveries import LockedDelivery, enqueue_wakeup
from notifications.deliveries.store.notifications import NewNotification, QueuedDelivery, record_notifications
from notifications.deliveries.templates.renderer import MessageRenderer

# Time for a delivery receipt of a PIN. The next channel must be faster than the patience of a buyer at the handover.
PIN_RECEIPT: Final = timedelta(seconds=90)
EVERY_KIND: Final = get_args(DeviceKind)


class Dispatcher(Protocol):
    """The part of a process that sends deliveries."""

    @property
    def is_running(self) -> bool:
        """Return whether this process sends deliveries."""

    def reserve(self, channel: str) -> Sequence[ChannelProvider]:
        """Reserve a place for a delivery of this transaction; return its providers, none without a free place."""

    def release(self, channel: str) -> None:
        """Give a reserved place back."""

    def start(self, claimed: Sequence[ClaimedDelivery]) -> None:
        """Send deliveries with reserved places, whose claims are committed."""

    def wake(self) -> None:
        """Claim due deliveries at once."""


@dataclass(frozen=True, slots=True)
class DeliveryContext:
    """The configured channels, the renderer, the current time and the dispatcher of this process.

    `device_kinds` are the kinds of devices that a push reaches; `pin_receipt` is the time limit of a PIN's receipt.
    """

    channels: Collection[str]
    renderer: MessageRenderer
    now: datetime
    dispatcher: Dispatcher
    device_kinds: Collection[str] = EVERY_KIND
    pin_receipt: timedelta = PIN_RECEIPT


async def record_deliveries(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    notifications: Sequence[NewNotification],
    *,
    is_sent_here: bool = True,
    is_final: bool = False,
) -> Sequence[QueuedDelivery]:
    """Record notifications and their deliveries in one statement; return the new deliveries. Raises
    NotificationIdConflict.

    With `is_sent_here` this process claims the due deliveries that it has a free place for: their insertion is their
    claim, and they are sent after the commit. The others are queued. With `is_final` no other write needs to follow.
    """
    dispatcher, now = delivery_context.dispatcher, delivery_context.now
    claims: dict[UUID, ClaimedDelivery] = {}
    recorded: set[UUID] = set()

    def dispatch(is_committed: bool) -> None:
        sent = [claim for delivery_id, claim in claims.items() if is_committed and delivery_id in recorded]
        dispatcher.start(sent)
        for claim in claims.values():
            if claim not in sent:
                dispatcher.release(claim.delivery.channel)
        if is_committed and len(sent) < len(recorded):
            dispatcher.wake()

    uow.on_end(dispatch)
    if is_sent_here:
        for notification in notifications:
            claims |= _claim(notification, dispatcher, now)
    claimed = [
        replace(one, deliveries=[each._replace(claim_id=_claim_id(claims, each.id)) for each in one.deliveries])
        for one in notifications
    ]
    found = await record_notifications(uow, claimed, now, is_final=is_final and dispatcher.is_running)
    if found is None:
        raise NotificationIdConflict
    recorded.update(found)
    queued = [each for one in claimed for each in one.deliveries if each.id in recorded]
    due = [each for each in queued if each.due_at <= now]
    if due and not dispatcher.is_running:
        enqueue_wakeup(uow, due[0].id)
    return queued


def _claim(notification: NewNotification, dispatcher: Dispatcher, now: datetime) -> dict[UUID, ClaimedDelivery]:
    """Reserve places for the due deliveries; return the claims by the id of the delivery."""
    request, claims = notification.request, dict[UUID, ClaimedDelivery]()
    for one in notification.deliveries:
        providers = dispatcher.reserve(one.channel) if one.due_at <= now else ()
        if providers:
            delivery = LockedDelivery(
                id=one.id,
                notification_id=request.notification_id,
                user_id=request.user_id,
                channel=cast("Channel", one.channel),
                recipient=one.recipient,
                template=request.template,
                payload=notification.payload,
                sealed=notification.sealed,
                status="queued",
                attempts=0,
                claim_id=None,
                claimed_at=None,
                due_at=one.due_at,
                created_at=now,
                traceparent=notification.traceparent,
                subject=None,
            )
            claims[one.id] = ClaimedDelivery(delivery, new_id(), now, providers[0], tuple(providers[1:]))
    return claims


def _claim_id(claims: Mapping[UUID, ClaimedDelivery], delivery_id: UUID) -> UUID | None:
    claim = claims.get(delivery_id)
    return None if claim is None else claim.claim_id
