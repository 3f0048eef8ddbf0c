"""Positions of cursor lists."""

from datetime import datetime
from uuid import UUID

# Creation and id of a row. None is the position before the first row of any list.
Position = tuple[datetime, UUID]


def split_position(after: Position | None) -> tuple[datetime | None, UUID | None]:
    return after or (None, None)
