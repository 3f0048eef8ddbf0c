"""Request and response models of the feed (contract section 12)."""

from uuid import UUID

from common.web.schemas import Instant, RequestBody, ResponseShape


class Notification(ResponseShape):
    """A notification of the feed."""

    id: UUID
    template: str
    title: str
    body: str
    created_at: str
    read_at: str | None


class UnreadCount(ResponseShape):
    unread_count: int


class ReadAllRequest(RequestBody):
    """Marks notifications up to and including `before`, or all of them."""

    before: Instant | None = None


class ReadAllResult(ResponseShape):
    """The number of notifications that became read."""

    read: int
