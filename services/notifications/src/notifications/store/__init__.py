"""The writes of this service: SQL by name, without decisions. One module for each noun."""

from notifications.store.alerts import (
    leave_page,
    lock_open_alert,
    record_alert_once,
    save_page_failed,
    save_paged,
    save_repetition,
)
from notifications.store.contacts import forget_contact, save_contact, save_order_summary, save_vendor
from notifications.store.deliveries import (
    claim_delivery,
    leave_delivery,
    lock_delivery,
    record_delivery_once,
    release_abandoned_claims,
    save_failed_attempt,
    save_given_up,
    save_sent,
    sealed_of,
)
from notifications.store.feed import record_notification_once, save_read
from notifications.store.queue import DELIVERIES_QUEUE

__all__ = [
    "DELIVERIES_QUEUE",
    "claim_delivery",
    "forget_contact",
    "leave_delivery",
    "leave_page",
    "lock_delivery",
    "lock_open_alert",
    "record_alert_once",
    "record_delivery_once",
    "record_notification_once",
    "release_abandoned_claims",
    "save_contact",
    "save_failed_attempt",
    "save_given_up",
    "save_order_summary",
    "save_page_failed",
    "save_paged",
    "save_read",
    "save_repetition",
    "save_sent",
    "save_vendor",
    "sealed_of",
]
