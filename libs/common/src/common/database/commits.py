"""Commits that are never cancelled (decision 83), and rollbacks.

PostgreSQL answers the cancellation of a COMMIT that waits for a standby by ending the wait: the transaction is visible
to all, and only one disk has it. asyncpg sends one when its own limit ends, or when the task that waits is cancelled.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import asyncpg

from common.database.errors import DRIVER_ERRORS
from common.primitives.waiting import NoResponse

ResultT = TypeVar("ResultT")

# asyncpg's own limit is beyond ours by this.
_DRIVER_SECONDS_MORE: Final = 60.0
# The end of a connection reaches the task that waits for it within one step of the loop.
_TERMINATED_SECONDS_MAX: Final = 1.0

# A connection on which it takes longer is replaced, which is quicker.
ROLLBACK_SECONDS_MAX: Final = 2.0

# A record in the log of the transaction, whose commit then waits for the standby with everything before it. A
# transaction that wrote something itself needs none.
CONFIRM_AND_COMMIT: Final = (
    "SELECT pg_logical_emit_message(true, 'campus', 'confirm') WHERE pg_current_xact_id_if_assigned() IS NULL; COMMIT"
)


async def uncancelled(
    connection: asyncpg.Connection,
    statement: Callable[[float], Awaitable[ResultT]],
    seconds_max: float,
) -> tuple[ResultT, asyncio.CancelledError | None]:
    """Return the result of a statement that commits, and the cancellation of the caller, which waited for it.

    `statement` receives the limit to give to asyncpg. After `seconds_max` the connection ends without a word, and the
    backend goes on waiting.

    Raises:
        NoResponse: the outcome is unknown. The same holds for an error of the connection.
    """
    sent = asyncio.ensure_future(statement(seconds_max + _DRIVER_SECONDS_MORE))
    stop: asyncio.CancelledError | None = None
    deadline = time.monotonic() + seconds_max
    while not sent.done() and (left := deadline - time.monotonic()) > 0:
        try:
            await asyncio.wait({sent}, timeout=left)
        except asyncio.CancelledError as error:
            stop = error
    if not sent.done():
        connection.terminate()
        await asyncio.wait({sent}, timeout=_TERMINATED_SECONDS_MAX)
    if not sent.done() or sent.cancelled():
        raise NoResponse(f"no commit within {seconds_max} s")
    return sent.result(), stop


def row_count(status: str) -> int:
    """Return the number of affected rows of a command's status, such as `INSERT 0 1`."""
    last = status.rsplit(" ", 1)[-1]
    return int(last) if last.isdigit() else 0


async def roll_back(connection: asyncpg.Connection) -> None:
    """Roll a failed transaction back; the pool discards a connection on which that fails."""
    if connection.is_closed():
        return
    try:
        await connection.execute("ROLLBACK", timeout=ROLLBACK_SECONDS_MAX)
    except DRIVER_ERRORS:
        connection.terminate()
    except asyncio.CancelledError:
        connection.terminate()
        raise
