"""The HTTP endpoints of this service."""

from notifications.assistant.routes import chat, tools
from notifications.deliveries import routes as deliveries
from notifications.support import routes as support
from notifications.webhooks import routes as webhooks

ENDPOINTS = (*deliveries.ENDPOINTS, *support.ENDPOINTS, chat.endpoint, tools.endpoint, webhooks.endpoint)
