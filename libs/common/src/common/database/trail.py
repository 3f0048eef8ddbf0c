"""Rows of a period as JSON lines: what a compromised secret could have caused (`campusctl rotation trail`)."""

import sys
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import read_instant

ROWS_MAX: Final = 10_000


async def print_trail(database: Database, lines: str, since: str, until: str, *filters: str) -> None:
    """Print the JSON texts that the statement `lines` selects, oldest first.

    `since` and `until` are ISO 8601, $1 and $2; `filters` follow. Exits with status 1: no instant, or more than
    `ROWS_MAX` rows.
    """
    try:
        period = (read_instant(since), read_instant(until))
    except ValueError as error:
        sys.exit(f"{error}: write instants as 2026-11-21T10:00:00Z")
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        rows = await uow.fetch(f"{lines} LIMIT {ROWS_MAX + 1}", *period, *filters)
    if len(rows) > ROWS_MAX:
        sys.exit(f"More than {ROWS_MAX} rows: choose a shorter period")
    sys.stdout.writelines(f"{line}\n" for [line] in rows)
