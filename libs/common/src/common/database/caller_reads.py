"""Reads of a caller outside of a unit of work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg

from common.auth.caller import Caller, ServiceItself

FetchFor = Callable[..., Awaitable[list[asyncpg.Record]]]
"""`fetch_for(acting_as, statement, *values)` of a database."""


@dataclass(frozen=True, slots=True)
class CallerReads:
    """Read each statement in a transaction of its own, under the row policies of the caller."""

    fetch_for: FetchFor
    acting_as: Caller | ServiceItself

    async def fetch(self, statement: str, *values: object) -> list[asyncpg.Record]:
        """All rows of a bounded statement."""
        return await self.fetch_for(self.acting_as, statement, *values)

    async def fetch_row(self, statement: str, *values: object) -> asyncpg.Record | None:
        """Return the first row, or None."""
        rows = await self.fetch(statement, *values)
        return rows[0] if rows else None

    async def fetch_value(self, statement: str, *values: object) -> Any:
        """Return the first column of the first row, or None."""
        row = await self.fetch_row(statement, *values)
        return None if row is None else row[0]
