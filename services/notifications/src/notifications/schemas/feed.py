"""Shapes of the feed (contract sections 12 and 15.8)."""

from uuid import UUID

from common.schemas import ResponseShape


class NotificationShape(ResponseShape):
    """A notification as the app shows it."""

    id: UUID
    template: str
    title: str
    body: str
    created_at: str
    read_at: str | None
