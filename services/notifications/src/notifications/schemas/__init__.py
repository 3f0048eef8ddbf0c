"""Request models (contract section 12), one module for each noun."""

from notifications.schemas.assistant import ChatRequest
from notifications.schemas.deliveries import Channel, DeliverNotificationRequest
from notifications.schemas.devices import RegisterDeviceRequest
from notifications.schemas.feed import MarkAllReadRequest
from notifications.schemas.preferences import ReplacePreferencesRequest

__all__ = [
    "Channel",
    "ChatRequest",
    "DeliverNotificationRequest",
    "MarkAllReadRequest",
    "RegisterDeviceRequest",
    "ReplacePreferencesRequest",
]
