"""Request and response shapes (contract sections 12 and 15.8), one module for each noun."""

from notifications.schemas.alerts import AlertShape
from notifications.schemas.deliveries import Channel, DeliverNotificationRequest, DeliveryAnswer, DeliveryLogShape
from notifications.schemas.devices import DeviceShape, RegisterDeviceRequest, VapidKeyShape
from notifications.schemas.feed import NotificationShape, ReadAllRequest, ReadAllShape, UnreadCountShape
from notifications.schemas.preferences import PreferencesRequest, PreferencesShape

__all__ = [
    "AlertShape",
    "Channel",
    "DeliverNotificationRequest",
    "DeliveryAnswer",
    "DeliveryLogShape",
    "DeviceShape",
    "NotificationShape",
    "PreferencesRequest",
    "PreferencesShape",
    "ReadAllRequest",
    "ReadAllShape",
    "RegisterDeviceRequest",
    "UnreadCountShape",
    "VapidKeyShape",
]
