"""The HTTP endpoints of this service."""

from notifications.routes import (
    alerts,
    assistant,
    dead_letters,
    delivery_logs,
    devices,
    feed,
    functions,
    messaging_webhook,
    preferences,
    receipts,
    tickets,
    unsubscribe,
    webhooks,
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
    messaging_webhook.endpoint,
    dead_letters.endpoint,
    tickets.endpoint,
    assistant.endpoint,
    webhooks.endpoint,
)
