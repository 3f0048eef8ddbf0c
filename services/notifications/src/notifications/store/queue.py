"""The queues of this service's own worker."""

from typing import Final

# The work of this service's own worker (contracts.topology): alerts to page and receipts to file, and below it the messages to
# send, each channel by a queue of its own: one whose provider hangs holds up no other.
DELIVERIES_QUEUE: Final = "notifications.deliveries"
# What customers send us and support answers: it never waits behind a flood of deliveries, nor they behind it.
SUPPORT_QUEUE: Final = "notifications.support"


def delivery_queue_of(channel: str) -> str:
    """The queue of a channel's messages."""
    return f"{DELIVERIES_QUEUE}.{channel}"
