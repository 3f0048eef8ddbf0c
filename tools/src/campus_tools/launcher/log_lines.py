"""Format JSON log lines for the console; the files keep the JSON."""

import json
from typing import Any, Final

# Shown elsewhere in the line, or of no use on a console.
_NOT_REPEATED: Final = frozenset({"event", "service", "level", "at", "exception"})


def readable(line: str) -> list[str]:
    """Format a log line as one or more lines. A line that is no JSON log record is unchanged."""
    try:
        record = json.loads(line)
    except ValueError:
        return [line]
    if not isinstance(record, dict) or not isinstance(record.get("event"), str):
        return [line]
    rest = "  ".join(f"{name}={_short(value)}" for name, value in record.items() if name not in _NOT_REPEATED)
    time = str(record.get("at", ""))[11:19]
    words = (time, str(record.get("level", "")).ljust(7), record["event"], f" {rest}" if rest else "")
    first = " ".join(word for word in words if word)
    return [first, *(f"    {row}" for row in str(record.get("exception") or "").splitlines())]


def _short(value: Any) -> str:
    return value if isinstance(value, str) and value and " " not in value else json.dumps(value, ensure_ascii=False)
