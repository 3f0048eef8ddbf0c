"""Response models (contract section 12), one module for each noun."""

from notifications.responses.alerts import Alert
from notifications.responses.assistant import ChatReply, Conversation, ConversationMessage
from notifications.responses.deliveries import DeliveryLog, NotificationDelivery
from notifications.responses.devices import Device, VapidKey
from notifications.responses.feed import MarkedRead, Notification, UnreadCount
from notifications.responses.preferences import NotificationPreferences

__all__ = [
    "Alert",
    "ChatReply",
    "Conversation",
    "ConversationMessage",
    "DeliveryLog",
    "Device",
    "MarkedRead",
    "Notification",
    "NotificationDelivery",
    "NotificationPreferences",
    "UnreadCount",
    "VapidKey",
]
