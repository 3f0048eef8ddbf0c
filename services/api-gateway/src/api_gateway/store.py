"""The idempotency records: one round trip to begin, one to finish, each a statement that commits by itself."""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from uuid import UUID

import asyncpg

from api_gateway.idempotency import Begun, InProgress, Leased, OtherRequest, Stored
from common.database import ACQUIRE_SECONDS_MAX, Database, DatabaseAway, is_away
from common.ids import new_id

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
VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
ON CONFLICT (caller_id, key_hash) DO UPDATE SET
    fingerprint = CASE WHEN {_FREE} THEN excluded.fingerprint ELSE r.fingerprint END,
    lease = CASE WHEN {_FREE} THEN excluded.lease ELSE r.lease END,
    leased_until = CASE WHEN {_FREE} THEN excluded.leased_until ELSE r.leased_until END,
    status = CASE WHEN {_FREE} THEN NULL ELSE r.status END,
    content_type = CASE WHEN {_FREE} THEN NULL ELSE r.content_type END,
    body = CASE WHEN {_FREE} THEN NULL ELSE r.body END,
    begun_at = CASE WHEN {_FREE} THEN excluded.begun_at ELSE r.begun_at END
RETURNING lease, fingerprint, status, content_type, body,
    extract(epoch FROM leased_until - clock_timestamp())::float8 AS seconds_left
"""
_FINISH: Final = """
UPDATE idempotency_records SET status = $4, content_type = $5, body = $6, leased_until = clock_timestamp()
WHERE caller_id = $1 AND key_hash = $2 AND lease = $3 AND status IS NULL
"""
_RELEASE: Final = """
DELETE FROM idempotency_records WHERE caller_id = $1 AND key_hash = $2 AND lease = $3 AND status IS NULL
"""
_PRUNE_ROWS: Final = 5_000
_PRUNE: Final = f"""
DELETE FROM idempotency_records WHERE (caller_id, key_hash) IN (
    SELECT caller_id, key_hash FROM idempotency_records WHERE begun_at < now() - make_interval(secs => $1)
    ORDER BY begun_at LIMIT {_PRUNE_ROWS} FOR UPDATE SKIP LOCKED
)
"""


class IdempotencyRecords:
    """The gateway's own table, shared by all its replicas. Lengths are seconds."""

    def __init__(self, database: Database, *, lock_seconds: int, keep_seconds: int) -> None:
        self._pool: Any = database.service
        self._lock_seconds, self._keep_seconds = float(lock_seconds), float(keep_seconds)

    async def begin(self, caller_id: UUID, key_hash: bytes, fingerprint: bytes) -> Begun:
        """Takes the lease of a key, or tells what stands there. Raises DatabaseAway (503)."""
        token = new_id()
        row = await self._run(
            lambda connection: connection.fetchrow(
                _BEGIN, caller_id, key_hash, fingerprint, token, self._lock_seconds, self._keep_seconds
            )
        )
        if row["lease"] == token:
            return Leased(token)
        if row["fingerprint"] != fingerprint:
            return OtherRequest()
        if row["status"] is None:
            return InProgress(max(row["seconds_left"], 0.0))
        return Stored(row["status"], row["content_type"], row["body"])

    async def finish(self, caller_id: UUID, key_hash: bytes, lease: UUID, answer: Stored) -> bool:
        """Keeps the answer; False when another holder took the key over after our lease had ended."""
        status: str = await self._run(
            lambda connection: connection.execute(
                _FINISH, caller_id, key_hash, lease, answer.status, answer.content_type, answer.body
            )
        )
        return status == "UPDATE 1"

    async def release(self, caller_id: UUID, key_hash: bytes, lease: UUID) -> None:
        """Frees the key: the answer was not one to keep."""
        await self._run(lambda connection: connection.execute(_RELEASE, caller_id, key_hash, lease))

    async def prune_once(self) -> int:
        """Removes what was kept long enough, in bounded steps; tells how many rows went."""
        removed = 0
        while True:
            status: str = await self._run(
                lambda connection: connection.execute(_PRUNE, max(self._keep_seconds, self._lock_seconds))
            )
            gone = int(status.rsplit(" ", 1)[-1])
            removed += gone
            if gone < _PRUNE_ROWS:
                return removed

    async def _run(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """One statement on a connection of the service role, in a transaction of its own."""
        try:
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS_MAX) as connection:
                return await work(connection)
        except (TimeoutError, OSError) as error:
            raise DatabaseAway from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            if is_away(error):
                raise DatabaseAway from error
            raise
