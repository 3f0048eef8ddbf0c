"""The tables of the database; those of a context are with it. `migrations/sql` has their functions, policies and
grants.
"""

from notifications.assistant import tables as conversations
from notifications.deliveries import tables as messages
from notifications.support import tables as tickets
from notifications.tables.metadata import metadata
from notifications.webhooks import tables as webhooks

__all__ = ["conversations", "messages", "metadata", "tickets", "webhooks"]
