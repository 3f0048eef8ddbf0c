"""The idempotency records: one round trip to begin, one to finish, each a statement that commits by itself."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg

from api_gateway.batches import Batches
from api_gateway.idempotency import Begun, InProgress, Leased, OtherRequest, Stored
from common.database.retention import RetentionRule
from common.database.unit_of_work import ACQUIRE_SECONDS_MAX, Database, DatabaseUnavailable, is_unavailable

# A key is free again when its answer was kept long enough. A lease that ended without an answer may be taken over by the
# same request only: the first one may have had its effect.
_FREE: Final = """
(r.leased_until <= clock_timestamp() AND (
    r.begun_at <= clock_timestamp() - make_interval(secs => $6)
    OR (r.status IS NULL AND r.fingerprint = excluded.fingerprint)))
"""
# The row is written even when it is somebody else's, so that what comes back is the newest row and never a snapshot's.
_BEGIN: Final = f"""
INSERT INTO idempotency_records AS r (caller_id, key_hash, fingerprint, lease, leased_until)
SELECT caller_id, key_hash, fingerprint, lease, clock_timestamp() + make_interval(secs => $5)
FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::uuid[]) AS asked (caller_id, key_hash, fingerprint, lease)
ORDER BY caller_id, key_hash
ON CONFLICT (caller_id, key_hash) DO UPDATE SET
    fingerprint = CASE WHEN {_FREE} THEN excluded.fingerprint ELSE r.fingerprint END,
    lease = CASE WHEN {_FREE} THEN excluded.lease ELSE r.lease END,
    leased_until = CASE WHEN {_FREE} THEN excluded.leased_until ELSE r.leased_until END,
    status = CASE WHEN {_FREE} THEN NULL ELSE r.status END,
    content_type = CASE WHEN {_FREE} THEN NULL ELSE r.content_type END,
    body = CASE WHEN {_FREE} THEN NULL ELSE r.body END,
    begun_at = CASE WHEN {_FREE} THEN excluded.begun_at ELSE r.begun_at END
RETURNING caller_id, key_hash, lease, fingerprint, status, content_type, body,
    extract(epoch FROM leased_until - clock_timestamp())::float8 AS seconds_left
"""
# Written as an insertion, so that the rows are found by the primary key whatever the planner thinks of the table's size.
_FINISH: Final = """
INSERT INTO idempotency_records AS r (caller_id, key_hash, fingerprint, lease, leased_until, status, content_type, body)
SELECT caller_id, key_hash, fingerprint, lease, clock_timestamp(), status, content_type, body
FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::uuid[], $5::smallint[], $6::text[], $7::bytea[])
    AS done (caller_id, key_hash, fingerprint, lease, status, content_type, body)
ORDER BY caller_id, key_hash
ON CONFLICT (caller_id, key_hash) DO UPDATE SET
    status = excluded.status, content_type = excluded.content_type, body = excluded.body,
    leased_until = excluded.leased_until
WHERE r.lease = excluded.lease AND r.status IS NULL
RETURNING lease
"""
_RELEASE: Final = """
DELETE FROM idempotency_records WHERE caller_id = $1 AND key_hash = $2 AND lease = $3 AND status IS NULL
"""


# While one batch of a kind is under way the next one fills: a second beside it would only make both smaller.
_CONCURRENT_MAX: Final = 1
_BATCH_MAX: Final = 64
# Two gateways that write the same keys in one moment may deadlock; each statement is one transaction and may be repeated.
_ATTEMPTS_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A request under a key: whose, which, what it is, and the token that its lease would have."""

    caller_id: UUID
    key_hash: bytes
    fingerprint: bytes
    token: UUID


class IdempotencyRecords:
    """The gateway's own table, shared by all its replicas. Lengths are seconds."""

    def __init__(self, database: Database, *, lock_seconds: int, keep_seconds: int) -> None:
        self._pool: Any = database.service
        self._lock_seconds, self._keep_seconds = float(lock_seconds), float(keep_seconds)
        self._beginning = Batches(self._begin_all, size_max=_BATCH_MAX, at_once=_CONCURRENT_MAX)
        self._finishing = Batches(self._finish_all, size_max=_BATCH_MAX, at_once=_CONCURRENT_MAX)

    async def begin(self, ask: IdempotencyClaim) -> Begun:
        """Takes the lease of a key, or tells what stands there. Raises DatabaseAway (503)."""
        return await self._beginning.ask(ask)

    async def _begin_all(self, asks: Sequence[IdempotencyClaim]) -> Sequence[Begun]:
        # One statement cannot touch a row twice: of several requests under one key the first stands for all.
        first = {(ask.caller_id, ask.key_hash): ask for ask in reversed(asks)}
        columns = [[getattr(ask, name) for ask in first.values()] for name in IdempotencyClaim.__slots__]
        found = await self._run(
            lambda connection: connection.fetch(_BEGIN, *columns, self._lock_seconds, self._keep_seconds)
        )
        rows = {(row["caller_id"], row["key_hash"]): row for row in found}
        return [_begun(ask, rows[ask.caller_id, ask.key_hash]) for ask in asks]

    async def finish(self, ask: IdempotencyClaim, answer: Stored) -> bool:
        """Keeps the answer; False when another holder took the key over after our lease had ended."""
        return await self._finishing.ask((ask, answer))

    async def _finish_all(self, ended: Sequence[tuple[IdempotencyClaim, Stored]]) -> Sequence[bool]:
        first = {(ask.caller_id, ask.key_hash): (ask, answer) for ask, answer in reversed(ended)}
        columns = [
            *([getattr(ask, name) for ask, _ in first.values()] for name in IdempotencyClaim.__slots__),
            *([getattr(answer, name) for _, answer in first.values()] for name in Stored.__slots__),
        ]
        kept = {row["lease"] for row in await self._run(lambda connection: connection.fetch(_FINISH, *columns))}
        return [ask.token in kept for ask, _ in ended]

    async def release(self, ask: IdempotencyClaim) -> None:
        """Frees the key: the answer was not one to keep."""
        await self._run(lambda connection: connection.execute(_RELEASE, ask.caller_id, ask.key_hash, ask.token))

    @property
    def kept(self) -> RetentionRule:
        """A record stays as long as its answer, or its lease, counts."""
        return RetentionRule(
            "idempotency_records",
            ("caller_id", "key_hash"),
            "begun_at",
            timedelta(seconds=max(self._keep_seconds, self._lock_seconds)),
            stamped_by="database",
        )

    async def close(self) -> None:
        """Ends what is under way."""
        await self._beginning.close()
        await self._finishing.close()

    async def _run(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """One statement on a connection of the service role, in a transaction of its own."""
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            try:
                async with self._pool.acquire(timeout=ACQUIRE_SECONDS_MAX) as connection:
                    return await work(connection)
            except OSError as error:
                raise DatabaseUnavailable from error
            except asyncpg.DeadlockDetectedError:
                if attempt == _ATTEMPTS_MAX:
                    raise
            except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                if is_unavailable(error):
                    raise DatabaseUnavailable from error
                raise
        raise AssertionError("the loop above returns or raises")


def _begun(ask: IdempotencyClaim, row: asyncpg.Record) -> Begun:
    if row["lease"] == ask.token:
        return Leased()
    if row["fingerprint"] != ask.fingerprint:
        return OtherRequest()
    if row["status"] is None:
        return InProgress(max(row["seconds_left"], 0.0))
    return Stored(row["status"], row["content_type"], row["body"])
