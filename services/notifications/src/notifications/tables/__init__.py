"""The tables of the notifications database, as the migrations create them; one module per area."""

from notifications.tables import conversations, messages, webhooks
from notifications.tables.metadata import metadata

__all__ = ["conversations", "messages", "metadata", "webhooks"]
