"""Deliveries: contacts, notifications on every channel, the feed, devices, preferences and alerts.

The names below are what other contexts of this service use; nothing else of this package is imported by them.
"""

from notifications.deliveries.domain.deliveries import (
    Contact,
    EncryptedValue,
    NotificationRequest,
    masked,
    notification_id_of,
)
from notifications.deliveries.domain.masked_texts import MaskedText, mask_digits
from notifications.deliveries.domain.messaging_errors import PROVIDER as MESSAGING_PROVIDER
from notifications.deliveries.domain.messaging_errors import MessagingError, ReportedError, classify_error, read_error
from notifications.deliveries.domain.statuses import LOST, Status
from notifications.deliveries.domain.telephone_numbers import address_of, is_app_user_id, key_of
from notifications.deliveries.queries.contacts import (
    find_contact,
    find_contacts,
    find_staff_roles,
    find_user_of_number,
    is_party_of_order,
)
from notifications.deliveries.use_cases.deliveries.deliver_notification import deliver_notification
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.deliveries.use_cases.deliveries.pause_provider import pause_provider
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status

__all__ = [
    "LOST",
    "MESSAGING_PROVIDER",
    "Contact",
    "DeliveryContext",
    "EncryptedValue",
    "MaskedText",
    "MessagingError",
    "NotificationRequest",
    "ReportedError",
    "Status",
    "StatusReport",
    "address_of",
    "classify_error",
    "deliver_notification",
    "find_contact",
    "find_contacts",
    "find_staff_roles",
    "find_user_of_number",
    "is_app_user_id",
    "is_party_of_order",
    "key_of",
    "mask_digits",
    "masked",
    "notification_id_of",
    "notify_user",
    "pause_provider",
    "read_error",
    "record_delivery_status",
]
