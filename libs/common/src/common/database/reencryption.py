"""Re-encryption of values at rest under the current key, and the count of uses of a retired key (decision 36).

Run `python -m <service> re-encrypt` once a new key is in use; `re-encrypt --count` only counts. A batch locks at most
`BATCH_ROWS` rows, skips locked rows, and commits. Requests wait no longer than for a small update, a second run
continues where the first ended, and concurrent runs process each row once.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.primitives.encryption import DecryptionFailed, Encryptor

COMMAND: Final = "re-encrypt"
REENCRYPTING: Final = ServiceItself("re-encryption of values at rest")
# 200 small updates hold their row locks for a few hundredths of a second.
BATCH_ROWS: Final = 200
PAUSE_SECONDS: Final = 0.02
# A locked row is skipped until the next pass, and counted as remaining after the last one.
PASSES_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class EncryptedRows:
    """Rows with an encrypted text. `renew` returns the columns to write, or raises DecryptionFailed.

    `stale` is SQL on a row that needs re-encryption; `$1` in it are the LIKE patterns of texts under a current key.
    """

    table: str
    key: str
    read: tuple[str, ...]
    stale: str
    encryptor: Encryptor
    renew: Callable[[asyncpg.Record], Mapping[str, object]]
    # The least value of the key, as SQL.
    before_first: str = "'00000000-0000-0000-0000-000000000000'::uuid"

    @property
    def batch(self) -> str:
        columns = ", ".join((self.key, *self.read))
        return (
            f"SELECT {columns} FROM {self.table} WHERE {self.key} > coalesce($2, {self.before_first}) AND "
            f"({self.stale}) "
            f"ORDER BY {self.key} LIMIT {BATCH_ROWS} FOR UPDATE SKIP LOCKED"
        )

    @property
    def count(self) -> str:
        return f"SELECT count(*) FROM {self.table} WHERE {self.stale}"

    def update(self, columns: Sequence[str]) -> str:
        assignments = ", ".join(f"{column} = ${number}" for number, column in enumerate(columns, start=2))
        return f"UPDATE {self.table} SET {assignments} WHERE {self.key} = $1"


def stale_text(column: str) -> str:
    """Return the predicate `stale` of a text column; empty texts are not encrypted."""
    return f"{column} <> '' AND NOT {column} LIKE ANY ($1::text[])"


@dataclass(frozen=True, slots=True)
class EncryptedMessages:
    """Pending messages of these types with encrypted fields: unpublished, or dead letters not resolved.

    They are counted, never changed. They are processed, replayed, closed or removed within their retention.
    """

    types: tuple[str, ...]
    encryptor: Encryptor

    def counts(self) -> Mapping[str, str]:
        return {
            "unpublished messages": _MESSAGES.format(table="outbox", body="payload", type="type", done="published_at"),
            "dead letters": _MESSAGES.format(
                table="dead_letters", body="body", type="event_type", done="resolved_at"
            ),
        }  # fmt: skip


_MESSAGES: Final = (
    "SELECT count(*) FROM {table} WHERE {type} = ANY ($2::text[]) AND {done} IS NULL "
    "AND NOT encode({body}, 'escape') LIKE ANY ($1::text[])"
)


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of one table: re-encrypted by this run, still under another key, and among them the unreadable ones."""

    name: str
    renewed: int
    remaining: int
    unreadable: int = 0


class StillShared(Exception):
    """Texts are still encrypted in the format of the previous release, so nothing can be re-encrypted."""


async def reencrypt(
    database: Database,
    rows: Sequence[EncryptedRows],
    messages: Sequence[EncryptedMessages] = (),
    *,
    only_count: bool = False,
) -> list[Result]:
    """Re-encrypts texts that are not under a current key, and counts the rest. Raises StillShared."""
    if any(part.encryptor.writes_old_format for part in rows):
        raise StillShared
    results = []
    for table in rows:
        renewed, unreadable = (0, 0) if only_count else await _renew(database, table)
        async with database.unit_of_work(acting_as=REENCRYPTING) as uow:
            remaining = await uow.fetch_value(table.count, table.encryptor.unretired_patterns)
        results.append(Result(table.table, renewed, remaining, unreadable))
    for part in messages:
        patterns = [f'%"{pattern}' for pattern in part.encryptor.unretired_patterns]
        for name, statement in part.counts().items():
            async with database.unit_of_work(acting_as=REENCRYPTING) as uow:
                remaining = await uow.fetch_value(statement, patterns, list(part.types))
            results.append(Result(name, 0, remaining))
    return results


async def _renew(database: Database, table: EncryptedRows) -> tuple[int, int]:
    renewed, unreadable = 0, 0
    for _ in range(PASSES_MAX):
        position, in_pass, unreadable = None, 0, 0
        while True:
            async with database.unit_of_work(acting_as=REENCRYPTING) as uow:
                found = await uow.fetch(table.batch, table.encryptor.unretired_patterns, position)
                for row in found:
                    try:
                        changed = table.renew(row)
                    except DecryptionFailed:
                        unreadable += 1
                        continue
                    await uow.execute(table.update(list(changed)), row[table.key], *changed.values())
                    in_pass += 1
            if not found:
                break
            position = found[-1][table.key]
            await asyncio.sleep(PAUSE_SECONDS)
        renewed += in_pass
        if in_pass == 0:
            break
    return renewed, unreadable


async def reencrypt_by_command(
    database: Database, rows: Sequence[EncryptedRows], messages: Sequence[EncryptedMessages] = (), option: str = ""
) -> None:
    """`python -m <service> re-encrypt [--count]`. Ends with status 1 while a retired key is still needed."""
    if option not in ("", "--count"):
        sys.stderr.write("re-encrypt [--count]\n")
        raise SystemExit(64)
    try:
        results = await reencrypt(database, rows, messages, only_count=bool(option))
    except StillShared:
        sys.stderr.write(
            "SEALING_KEY is set: values are encrypted for the release before. Rotate the key first "
            "(docs/runbooks/rotate-sealing-keys.md).\n"
        )
        raise SystemExit(1) from None
    for result in results:
        unreadable = f", {result.unreadable} of them open with no key" if result.unreadable else ""
        sys.stdout.write(f"{result.name}: {result.renewed} re-encrypted, {result.remaining} remain{unreadable}\n")
    remaining = sum(result.remaining for result in results)
    if remaining:
        sys.stderr.write(f"{remaining} values or messages still need a retired key.\n")
        raise SystemExit(1)
