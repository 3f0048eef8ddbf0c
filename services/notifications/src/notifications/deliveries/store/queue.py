"""Work queues of this service (contracts.topology)."""

from typing import Final

# Pages, receipts, and wake-ups of the workers that send deliveries.
DELIVERIES_QUEUE: Final = "notifications.deliveries"


def delivery_queue_of(channel: str) -> str:
    """Return the queue of a channel: work items of the release before, and the name of its messages in the metrics."""
    return f"{DELIVERIES_QUEUE}.{channel}"
