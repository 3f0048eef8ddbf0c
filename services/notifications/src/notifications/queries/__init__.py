"""The reads of this service: SQL to rows, and to the public shapes. One module for each noun."""

from notifications.queries.alerts import ALERT_SORTS, find_alert, page_of_alerts
from notifications.queries.contacts import find_contact, find_order_summary, find_vendor, payment_is_under_review
from notifications.queries.conversations import count_messages, list_conversations, list_messages, list_recent_lines
from notifications.queries.deliveries import LOG_SORTS, find_attempt, find_delivery, page_of_delivery_logs
from notifications.queries.devices import device_shape, find_device, list_device_ids, list_devices
from notifications.queries.feed import (
    count_unread,
    feed_shape,
    find_last_place,
    find_place_of,
    list_feed,
    list_feed_after,
    list_last_places,
)
from notifications.queries.preferences import find_preferences, preferences_shape

__all__ = [
    "ALERT_SORTS",
    "LOG_SORTS",
    "count_messages",
    "count_unread",
    "device_shape",
    "feed_shape",
    "find_alert",
    "find_attempt",
    "find_contact",
    "find_delivery",
    "find_device",
    "find_last_place",
    "find_order_summary",
    "find_place_of",
    "find_preferences",
    "find_vendor",
    "list_conversations",
    "list_device_ids",
    "list_devices",
    "list_feed",
    "list_feed_after",
    "list_last_places",
    "list_messages",
    "list_recent_lines",
    "page_of_alerts",
    "page_of_delivery_logs",
    "payment_is_under_review",
    "preferences_shape",
]
