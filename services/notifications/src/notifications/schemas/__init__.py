"""Request and response models (contract section 12), one module for each noun."""

from notifications.schemas.alerts import Alert
from notifications.schemas.assistant import STREAM_RESPONSE, ChatReply, ChatRequest, Conversation, ConversationMessage
from notifications.schemas.deliveries import Channel, DeliverNotificationRequest, DeliveryLog, NotificationDelivery
from notifications.schemas.devices import Device, RegisterDeviceRequest, VapidKey
from notifications.schemas.feed import MarkAllReadRequest, MarkedRead, Notification, UnreadCount
from notifications.schemas.preferences import NotificationPreferences, ReplacePreferencesRequest

__all__ = [
    "STREAM_RESPONSE",
    "Alert",
    "Channel",
    "ChatReply",
    "ChatRequest",
    "Conversation",
    "ConversationMessage",
    "DeliverNotificationRequest",
    "DeliveryLog",
    "Device",
    "MarkAllReadRequest",
    "MarkedRead",
    "Notification",
    "NotificationDelivery",
    "NotificationPreferences",
    "RegisterDeviceRequest",
    "ReplacePreferencesRequest",
    "UnreadCount",
    "VapidKey",
]
