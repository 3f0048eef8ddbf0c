"""The events that are requested: the topics that teams name in the list of subscribers (decision 140)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import yaml

from common.observability.logging import get_logger
from common.primitives.clock import Clock
from contracts.topology import ON_REQUEST

log: Final = get_logger(__name__)

# Kubernetes updates a mounted file within a minute; this adds at most these seconds.
REREAD_AFTER: Final = timedelta(seconds=15)
_ON_REQUEST: Final = frozenset(event.TYPE for event in ON_REQUEST)


class RequestedEvents:
    """The list of subscribers, read again while the process runs. Without a file, nothing is requested."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._requested: frozenset[str] = frozenset()
        self._read_at = datetime.min.replace(tzinfo=UTC)

    def is_published(self, event_type: str) -> bool:
        """Return whether the event is published: unless on request always, else while a team names its type."""
        return event_type not in _ON_REQUEST or event_type in self._current()

    def _current(self) -> frozenset[str]:
        now = self._clock.now()
        if self._path is not None and now - self._read_at >= REREAD_AFTER:
            self._read_at = now
            try:
                teams = yaml.safe_load(self._path.read_text(encoding="utf-8")) or {}
                self._requested = frozenset(topic for team in teams.values() for topic in team["topics"])
            except (OSError, yaml.YAMLError, AttributeError, TypeError, KeyError) as error:
                # A file that is being written, or a faulty one: what was requested before stays.
                log.warning("list of subscribers not read", error=repr(error))
        return self._requested
