"""The time format of the gateway's responses: ISO 8601 in UTC with milliseconds."""

import time
from datetime import UTC, datetime


def now_text() -> str:
    """Return the current time, for example `2026-05-01T09:30:00.000Z`; such texts sort by time."""
    return moment_text(time.time())


def moment_text(epoch_seconds: float) -> str:
    moment = datetime.fromtimestamp(epoch_seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_moment(text: str) -> str:
    """Convert an ISO 8601 date or time to the sortable form. Raises ValueError for any other text."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment_text(moment.timestamp())
