"""The HTTP endpoints of support."""

from notifications.support.routes import (
    dead_letters,
    messaging_webhook,
    tickets,
)

ENDPOINTS = (
    messaging_webhook.endpoint,
    dead_letters.endpoint,
    tickets.endpoint,
)
