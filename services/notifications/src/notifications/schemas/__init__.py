"""Request and response shapes (contract section 12), one module for each noun."""

from notifications.schemas.alerts import AlertShape
from notifications.schemas.assistant import STREAM_ANSWER, AskRequest, ConversationShape, MessageShape, ReplyShape
from notifications.schemas.deliveries import Channel, DeliverNotificationRequest, DeliveryAnswer, DeliveryLogShape
from notifications.schemas.devices import DeviceShape, RegisterDeviceRequest, VapidKeyShape
from notifications.schemas.feed import NotificationShape, ReadAllRequest, ReadAllShape, UnreadCountShape
from notifications.schemas.preferences import PreferencesRequest, PreferencesShape

__all__ = [
    "STREAM_ANSWER",
    "AlertShape",
    "AskRequest",
    "Channel",
    "ConversationShape",
    "DeliverNotificationRequest",
    "DeliveryAnswer",
    "DeliveryLogShape",
    "DeviceShape",
    "MessageShape",
    "NotificationShape",
    "PreferencesRequest",
    "PreferencesShape",
    "ReadAllRequest",
    "ReadAllShape",
    "RegisterDeviceRequest",
    "ReplyShape",
    "UnreadCountShape",
    "VapidKeyShape",
]
