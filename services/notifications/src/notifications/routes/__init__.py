"""The HTTP endpoints of this service."""

from typing import Final

from fastapi import APIRouter

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

ROUTERS: Final[list[APIRouter]] = [
    feed.router,
    devices.router,
    preferences.router,
    unsubscribe.router,
    functions.router,
    receipts.router,
    delivery_logs.router,
    alerts.router,
    messaging_webhook.router,
    dead_letters.router,
    tickets.router,
    assistant.router,
    webhooks.router,
]
