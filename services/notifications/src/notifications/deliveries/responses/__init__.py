"""Response models (contract section 12), one module for each noun."""

from notifications.deliveries.responses.alerts import Alert, AlertAction, AlertDetail
from notifications.deliveries.responses.deliveries import DeliveryLog, NotificationDelivery
from notifications.deliveries.responses.devices import Device, VapidKey
from notifications.deliveries.responses.drills import Drill
from notifications.deliveries.responses.feed import MarkedRead, Notification, UnreadCount
from notifications.deliveries.responses.preferences import NotificationPreferences

__all__ = [
    "Alert",
    "AlertAction",
    "AlertDetail",
    "DeliveryLog",
    "Device",
    "Drill",
    "MarkedRead",
    "Notification",
    "NotificationDelivery",
    "NotificationPreferences",
    "UnreadCount",
    "VapidKey",
]
