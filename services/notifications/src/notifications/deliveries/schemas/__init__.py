"""Request models (contract section 12), one module for each noun."""

from notifications.deliveries.schemas.alerts import AddAlertNoteRequest, AssignAlertRequest, DiscardLostMessagesRequest
from notifications.deliveries.schemas.deliveries import DeliverNotificationRequest
from notifications.deliveries.schemas.devices import RegisterDeviceRequest
from notifications.deliveries.schemas.drills import EndDrillRequest, StartDrillRequest
from notifications.deliveries.schemas.feed import MarkAllReadRequest
from notifications.deliveries.schemas.preferences import ReplacePreferencesRequest

__all__ = [
    "AddAlertNoteRequest",
    "AssignAlertRequest",
    "DeliverNotificationRequest",
    "DiscardLostMessagesRequest",
    "EndDrillRequest",
    "MarkAllReadRequest",
    "RegisterDeviceRequest",
    "ReplacePreferencesRequest",
    "StartDrillRequest",
]
