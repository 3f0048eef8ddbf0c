"""The queue of this service's own worker."""

from typing import Final

# The work of this service's own worker: one message to send, or one alert to page (contracts.topology).
DELIVERIES_QUEUE: Final = "notifications.deliveries"
