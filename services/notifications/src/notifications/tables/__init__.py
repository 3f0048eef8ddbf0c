"""The tables of the database, one module for each area. `migrations/sql` has their functions, policies and grants."""

from notifications.tables import conversations, messages, webhooks
from notifications.tables.metadata import metadata

__all__ = ["conversations", "messages", "metadata", "webhooks"]
