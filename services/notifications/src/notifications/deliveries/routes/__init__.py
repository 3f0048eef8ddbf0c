"""The HTTP endpoints of deliveries."""

from notifications.deliveries.routes import (
    alerts,
    delivery_logs,
    devices,
    drills,
    feed,
    functions,
    preferences,
    receipts,
    unsubscribe,
)

ENDPOINTS = (
    feed.endpoint,
    devices.endpoint,
    preferences.endpoint,
    unsubscribe.endpoint,
    functions.endpoint,
    receipts.endpoint,
    delivery_logs.endpoint,
    alerts.endpoint,
    drills.endpoint,
)
