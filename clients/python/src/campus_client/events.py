"""Server-sent events."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Event(Generic[T]):
    """One event of a stream. Pass its `id` as `last_event_id` to continue after it."""

    event: str
    data: T
    id: str = ""


@dataclass(slots=True)
class EventParser:
    """Collects lines to events. Comments, which keep a connection open, are skipped.

    `last_id`: the id to continue after; a block may consist of an id alone. `retry_seconds`: the pause before a
    reconnection, None unless the server named one.
    """

    last_id: str = ""
    retry_seconds: float | None = None
    _id: str = ""
    _kind: str = ""
    _lines: list[str] = field(default_factory=list)

    def feed(self, line: str) -> Event[str] | None:
        """Return the event that this line ends, if any."""
        if not line:
            return self._complete()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._kind = value
            case "data":
                self._lines.append(value)
            case "id":
                self._id = value
            case "retry" if value.isdecimal():
                self.retry_seconds = int(value) / 1000
        return None

    def _complete(self) -> Event[str] | None:
        self.last_id = self._id or self.last_id
        kind, lines = self._kind or "message", self._lines
        self._kind, self._lines = "", []
        return Event(kind, "\n".join(lines), self.last_id) if lines else None
