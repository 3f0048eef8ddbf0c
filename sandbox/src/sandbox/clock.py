"""One way to write a moment: ISO 8601 in UTC with milliseconds, as the gateway's own answers have it."""

import time
from datetime import UTC, datetime


def now_text() -> str:
    """This moment, for example `2026-05-01T09:30:00.000Z`; such texts sort by time."""
    return moment_text(time.time())


def moment_text(epoch_seconds: float) -> str:
    moment = datetime.fromtimestamp(epoch_seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_moment(text: str) -> str:
    """Bring an ISO 8601 date or moment into the sortable form; raises ValueError when it is none."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment_text(moment.timestamp())
