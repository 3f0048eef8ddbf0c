"""Work queues of this service (contracts.topology)."""

from typing import Final

# Pages and receipts. Messages have a queue below it for each channel, so that a hanging provider delays no other channel.
DELIVERIES_QUEUE: Final = "notifications.deliveries"
# Messages of customers and replies of support, independent of the deliveries.
SUPPORT_QUEUE: Final = "notifications.support"


def delivery_queue_of(channel: str) -> str:
    return f"{DELIVERIES_QUEUE}.{channel}"
