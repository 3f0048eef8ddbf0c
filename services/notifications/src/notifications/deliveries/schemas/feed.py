"""Request models of the feed (contract section 12)."""

from common.web.schemas import Instant, RequestBody


class MarkAllReadRequest(RequestBody):
    """Marks notifications up to and including `before`, or all of them."""

    before: Instant | None = None
