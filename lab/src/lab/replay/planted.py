"""Faults that are planted in a ledger: only the inputs contradict such a ledger, whose chain may fit it.

Each runs in a transaction that is rolled back. The recorded ids of postings are changed with the ledger.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID, uuid4

import asyncpg

from lab.replay.check import Replay
from lab.replay.recording import RecordedUnit, Recording

_WITHOUT_TRIGGERS: Final = "SET LOCAL session_replication_role = replica"
_ONE_OF_EACH_TYPE: Final = """
SELECT DISTINCT ON (type) id, type, posting_key FROM ledger_transactions ORDER BY type, position DESC
"""
_TWO_ENTRIES: Final = "SELECT position, account FROM ledger_entries WHERE transaction_id = $1 ORDER BY position LIMIT 2"
_ADD: Final = "UPDATE ledger_entries SET amount_minor = amount_minor + $2 WHERE position = $1"
# Of the same kind if there is one.
_OTHER_ACCOUNT: Final = """
SELECT account FROM ledger_entries
WHERE account NOT IN (SELECT account FROM ledger_entries WHERE transaction_id = $2)
ORDER BY split_part(account, ':', 1) = split_part($1, ':', 1) DESC, position LIMIT 1
"""
_SET_ACCOUNT: Final = "UPDATE ledger_entries SET account = $2 WHERE position = $1"
_COPY: Final = """
WITH copied AS (
    INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash)
    SELECT $2, type, posting_key || ':again', currency, content_hash FROM ledger_transactions WHERE id = $1
)
INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency)
SELECT $2, account, amount_minor, currency FROM ledger_entries WHERE transaction_id = $1
"""
_REMOVE: Final = (
    "DELETE FROM ledger_links WHERE transaction_id = $1",
    "DELETE FROM ledger_entries WHERE transaction_id = $1",
    "DELETE FROM ledger_transactions WHERE id = $1",
)
# Changes a ledger about one transaction, and the recorded transaction of the service that posted it.
Plant = Callable[[asyncpg.Connection, UUID, RecordedUnit], Awaitable[None]]


async def _move_one_kobo(connection: asyncpg.Connection, posting_id: UUID, _unit: RecordedUnit) -> None:
    first, second = await connection.fetch(_TWO_ENTRIES, posting_id)
    await connection.execute(_ADD, first["position"], 1)
    await connection.execute(_ADD, second["position"], -1)


async def _swap_account(connection: asyncpg.Connection, posting_id: UUID, _unit: RecordedUnit) -> None:
    entries = await connection.fetch(_TWO_ENTRIES, posting_id)
    entry = max(entries, key=lambda entry: ":" in entry["account"])
    other = await connection.fetchval(_OTHER_ACCOUNT, entry["account"], posting_id)
    await connection.execute(_SET_ACCOUNT, entry["position"], other)


async def _post_again(connection: asyncpg.Connection, posting_id: UUID, unit: RecordedUnit) -> None:
    copy = uuid4()
    await connection.execute(_COPY, posting_id, copy)
    unit.posting_ids.append(copy)


async def _remove(connection: asyncpg.Connection, posting_id: UUID, unit: RecordedUnit) -> None:
    for statement in _REMOVE:
        await connection.execute(statement, posting_id)
    unit.posting_ids.remove(posting_id)


_PLANTS: Final[Mapping[str, Plant]] = {
    "one kobo on another account": _move_one_kobo,
    "an entry on another account": _swap_account,
    "posted twice": _post_again,
    "not posted": _remove,
}


async def plant_faults(
    connections: Mapping[str, asyncpg.Connection], recording: Recording, replay_of: Callable[[Recording], Replay]
) -> AsyncIterator[tuple[str, list[str]]]:
    """Each fault in one transaction of each type of both ledgers, with the mismatches that a replay finds."""
    for service in ("payments", "payouts"):
        connection = connections[service]
        for row in await connection.fetch(_ONE_OF_EACH_TYPE):
            for name, plant in _PLANTS.items():
                planted = connection.transaction()
                await planted.start()
                try:
                    copy = _copy(recording, service)
                    unit = next(unit for unit in copy.units[service] if row["id"] in unit.posting_ids)
                    await connection.execute(_WITHOUT_TRIGGERS)
                    await plant(connection, row["id"], unit)
                    yield f"{service}: {row['posting_key']}: {name}", await replay_of(copy).check()
                finally:
                    await planted.rollback()


def _copy(recording: Recording, service: str) -> Recording:
    copy = Recording()
    copy.events, copy.commands = recording.events, recording.commands
    copy.units |= recording.units
    copy.units[service] = [replace(unit, posting_ids=list(unit.posting_ids)) for unit in recording.units[service]]
    return copy
