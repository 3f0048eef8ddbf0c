"""Compose a notification with its deliveries."""

from collections.abc import Iterable
from datetime import datetime

from common.observability.telemetry import trace_headers
from common.primitives.ids import new_id
from notifications.deliveries.domain.channels import Preferences
from notifications.deliveries.domain.deliveries import Contact, NotificationRequest
from notifications.deliveries.domain.templates import template_of
from notifications.deliveries.store.notifications import NewNotification, QueuedDelivery
from notifications.deliveries.templates.renderer import RECIPIENT_NAME
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


def compose_notification(
    request: NotificationRequest,
    addresses: Iterable[tuple[str, str]],
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None,
    preferences: Preferences | None = None,
    traceparent: str | None = None,
) -> NewNotification:
    """Return the notification with one delivery for each (channel, recipient). Quiet hours postpone a delivery."""
    now, template = delivery_context.now, template_of(request.template, request.channel)
    payload = {**request.parameters, RECIPIENT_NAME: contact.first_name if contact else "there"}
    entry = delivery_context.renderer.feed_entry(request.template, payload) if template.in_feed else None
    deliveries = [
        QueuedDelivery(new_id(), channel, address, _due_at(request.template, channel, preferences, now))
        for channel, address in addresses
    ]
    traceparent = traceparent or trace_headers().get("traceparent")
    return NewNotification(request, entry, payload, template.sensitive, traceparent, deliveries)


def _due_at(template: str, channel: str, preferences: Preferences | None, now: datetime) -> datetime:
    quiet = preferences.quiet_hours_for(template, channel) if preferences else None
    return (quiet.quiet_until(now) if quiet else None) or now
