"""Shapes of the feed (contract section 12)."""

from uuid import UUID

from common.web.schemas import Instant, RequestBody, ResponseShape


class Notification(ResponseShape):
    """A notification as the app shows it."""

    id: UUID
    template: str
    title: str
    body: str
    created_at: str
    read_at: str | None


class UnreadCount(ResponseShape):
    unread_count: int


class ReadAllRequest(RequestBody):
    """Up to which moment the person has seen their feed; without one, all of it."""

    before: Instant | None = None


class ReadAllResult(ResponseShape):
    """How many became read."""

    read: int
