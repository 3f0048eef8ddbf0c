"""Errors that processes logged with a traceback: unhandled ones, whatever the client saw."""

import json
from collections import Counter
from pathlib import Path
from typing import Final

_TRACEBACK: Final = "Traceback (most recent call last)"
_SHOWN_MAX: Final = 300


def unhandled_errors(logs: Path) -> tuple[str, ...]:
    """Return each kind of error of the processes that log to this folder, with its count and its last line."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in sorted(logs.glob("*.log")):
        with path.open(errors="replace") as lines:
            counts.update((path.stem, error) for line in lines if (error := _unhandled(line)))
    return tuple(f"{process}: {count} x {error}" for (process, error), count in counts.items())


def _unhandled(line: str) -> str | None:
    """Return the event and the exception of an error with a traceback. A warning has one where a retry follows."""
    if line.startswith(_TRACEBACK):
        return "a traceback outside of the log"
    if '"exception"' not in line:
        return None
    try:
        record = json.loads(line)
    except ValueError:
        # A process that was killed during the write.
        return None
    if record.get("level") not in ("error", "critical"):
        return None
    last = str(record["exception"]).strip().rpartition("\n")[2]
    return f"{record.get('event')}: {last}"[:_SHOWN_MAX]
