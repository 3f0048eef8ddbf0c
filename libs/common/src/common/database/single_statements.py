"""Transactions of one statement, which commits itself: one round trip in place of three."""

import asyncpg

from common.database.commits import uncancelled
from common.database.errors import BROKEN, DatabaseUnavailable, is_unavailable
from common.database.unit_of_work import Database


async def commit_alone(database: Database, statement: str, *values: object) -> list[asyncpg.Record]:
    """Return the rows of one statement of the service that commits itself. Like COMMIT, it is never cancelled.

    Raises DatabaseUnavailable, after which the outcome is unknown: the statement must permit a repetition.
    """
    try:
        # Bounded: a webhook that finds no free connection in this time is sent again.
        async with database.service.connection(timeout=database.limits.connection_acquire) as connection:
            rows, stop = await uncancelled(
                connection,
                lambda timeout: connection.fetch(statement, *values, timeout=timeout),
                database.limits.commit,
            )
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, *BROKEN) as error:
        if isinstance(error, (OSError, *BROKEN)) or is_unavailable(error):
            raise DatabaseUnavailable from error
        raise
    if stop is not None:
        raise stop
    found: list[asyncpg.Record] = rows
    return found
