"""The HTTP endpoints of this service."""

from notifications.assistant import routes as assistant
from notifications.deliveries import routes as deliveries
from notifications.support import routes as support
from notifications.webhooks import routes as webhooks

ENDPOINTS = (*deliveries.ENDPOINTS, *support.ENDPOINTS, assistant.endpoint, webhooks.endpoint)
