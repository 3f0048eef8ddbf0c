"""Positions of cursor lists."""

from datetime import datetime
from uuid import UUID

# Creation time and id of the last row of the previous page. None is the start of the list.
Position = tuple[datetime, UUID]


def split_position(after: Position | None) -> tuple[datetime | None, UUID | None]:
    return after or (None, None)
