"""Reads of this service, one module for each noun: SQL to typed records and API responses.

**Row security.** The API role sees `notifications` of `app.user_id` and may write only `read_at`; attempts and alerts
by permission. It has no grant on contacts, vendors, orders and deliveries. Tickets are visible to their owner,
`tickets:manage` and `tickets:read`, and their messages and images likewise; encrypted numbers and webhooks to no
caller. Devices and preferences are visible to their owner. A device is registered as the service, because its address
may belong to another user.
"""

from notifications.deliveries.queries.alerts import ALERT_SORTS, find_alert, page_of_alerts
from notifications.deliveries.queries.contacts import (
    find_contact,
    find_order_number,
    get_order_summary,
    get_recipients,
    get_vendor,
    list_staff,
    payment_is_under_review,
)
from notifications.deliveries.queries.deliveries import (
    LOG_SORTS,
    find_delivery,
    find_delivery_of_attempt,
    page_of_delivery_logs,
)
from notifications.deliveries.queries.devices import (
    device_response,
    devices_of,
    find_device,
    list_device_ids,
    list_devices,
)
from notifications.deliveries.queries.feed import (
    count_unread,
    find_last_position,
    find_position_of,
    list_feed,
    list_feed_after,
    list_last_positions,
    notification_response,
)
from notifications.deliveries.queries.preferences import find_preferences, preferences_response

__all__ = [
    "ALERT_SORTS",
    "LOG_SORTS",
    "count_unread",
    "device_response",
    "devices_of",
    "find_alert",
    "find_contact",
    "find_delivery",
    "find_delivery_of_attempt",
    "find_device",
    "find_last_position",
    "find_order_number",
    "find_position_of",
    "find_preferences",
    "get_order_summary",
    "get_recipients",
    "get_vendor",
    "list_device_ids",
    "list_devices",
    "list_feed",
    "list_feed_after",
    "list_last_positions",
    "list_staff",
    "notification_response",
    "page_of_alerts",
    "page_of_delivery_logs",
    "payment_is_under_review",
    "preferences_response",
]
