"""What a cursor list gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a cursor list."""

    rows: Sequence[Any]
    next_cursor: str | None
    limit: int

    @property
    def meta(self) -> Row:
        """The pagination fields of the specification."""
        return {"next_cursor": self.next_cursor, "has_more": self.next_cursor is not None, "limit": self.limit}
