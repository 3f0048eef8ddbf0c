"""The tables of the notifications database, as the migrations create them; one module per area."""

from notifications.tables import messages, webhooks
from notifications.tables.metadata import metadata

__all__ = ["messages", "metadata", "webhooks"]
