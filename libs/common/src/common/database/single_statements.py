"""Transactions of one statement, which commits itself: one round trip in place of three."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.commits import uncancelled
from common.database.errors import DRIVER_ERRORS, DatabaseUnavailable, TransactionRequired, is_outage_of_statement
from common.database.late_transactions import FirstWrites
from common.database.outbox import Writes
from common.database.unit_of_work import Database, UnitOfWork

ResultT = TypeVar("ResultT")

_NO_MESSAGES: Final = FirstWrites(
    "", Writes("first_writes AS (SELECT 0 AS messages)", "messages", final="true"), (), 0, "", is_single=True
)


async def decide_and_write(database: Database, work: Callable[[UnitOfWork], Awaitable[ResultT]]) -> ResultT:
    """Run `work` in a unit of work of the service whose decision may need no lock (`UnitOfWork.decides_unlocked`), and
    once more under locks where it does. `work` must have no effects outside its transaction.
    """
    with suppress(TransactionRequired):
        async with database.unit_of_work(acting_as=THE_SERVICE, late=_NO_MESSAGES) as uow:
            with uow.repeating_undecided():
                return await work(uow)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await work(uow)


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
    except DRIVER_ERRORS as error:
        if is_outage_of_statement(error):
            raise DatabaseUnavailable from error
        raise
    if stop is not None:
        raise stop
    found: list[asyncpg.Record] = rows
    return found


async def confirm_earlier(database: Database) -> None:
    """Return when every commit before is on the disk, and on a second machine where the server waits for one.

    Raises DatabaseUnavailable.
    """
    await commit_alone(database, "SELECT pg_logical_emit_message(true, 'campus', 'confirm')")
