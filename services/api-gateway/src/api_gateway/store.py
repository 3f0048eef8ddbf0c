"""Idempotency records: one round trip to claim a key, one to finish it, each a statement with its own commit."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from api_gateway.batches import Batches
from api_gateway.idempotency import ClaimResult, InProgress, Leased, OtherRequest, Stored
from api_gateway.late_records import LateRecords
from api_gateway.limits import LIMITS
from common.database.commits import row_count
from common.database.errors import DRIVER_ERRORS, DatabaseUnavailable, OutcomeUnknown, is_outage_of_statement
from common.database.retention import RetentionRule
from common.database.unit_of_work import Database
from common.observability.logging import get_logger

log = get_logger(__name__)

# The commit of this statement does not wait for the disk (decision 152): a crash of the server may lose it, and the
# service, which binds the key itself, gives a repetition the same result.
_WITHOUT_WAIT: Final = "CASE WHEN {}::boolean THEN set_config('synchronous_commit', 'off', true) END"
# A key is free after its retention. A lease that ended without a response may be claimed by the same request only: the
# first one may have had its effect.
_FREE: Final = """
(r.leased_until <= clock_timestamp() AND (
    r.begun_at <= clock_timestamp() - make_interval(secs => $6)
    OR (r.status IS NULL AND r.fingerprint = excluded.fingerprint)))
"""
# The row is written even if another request holds it, so that the statement returns the newest row and never a
# snapshot's.
_CLAIM: Final = f"""
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
    extract(epoch FROM leased_until - clock_timestamp())::float8 AS seconds_left, {_WITHOUT_WAIT.format("$7")}
"""
# An insert with conflict: rows are found by the primary key, whatever the planner assumes about the table's size.
_FINISH: Final = f"""
INSERT INTO idempotency_records AS r (caller_id, key_hash, fingerprint, lease, leased_until, status, content_type, body)
SELECT caller_id, key_hash, fingerprint, lease, clock_timestamp(), status, content_type, body
FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::uuid[], $5::smallint[], $6::text[], $7::bytea[])
    AS done (caller_id, key_hash, fingerprint, lease, status, content_type, body)
ORDER BY caller_id, key_hash
ON CONFLICT (caller_id, key_hash) DO UPDATE SET
    status = excluded.status, content_type = excluded.content_type, body = excluded.body,
    leased_until = excluded.leased_until
WHERE r.lease = excluded.lease AND r.status IS NULL
RETURNING lease, {_WITHOUT_WAIT.format("$8")}
"""
_RELEASE: Final = """
DELETE FROM idempotency_records WHERE caller_id = $1 AND key_hash = $2 AND lease = $3 AND status IS NULL
"""


# While one batch runs the next one fills: a concurrent second one would only make both smaller.
_CONCURRENT_MAX: Final = 1
_BATCH_MAX: Final = 64
# Two gateways that write the same keys may deadlock; each statement is one transaction and may be retried.
_ATTEMPTS_MAX: Final = 3


_COLUMNS: Final = ("caller_id", "key_hash", "fingerprint", "token")


class IdempotencyClaim(msgspec.Struct, frozen=True):
    """A request with a key: caller, key hash, fingerprint, the token of its lease, and whether the service binds the
    key too.
    """

    caller_id: UUID
    key_hash: bytes
    fingerprint: bytes
    token: UUID
    is_bound_by_service: bool = False


class IdempotencyRecords:
    """The gateway's table, shared by all its replicas. Durations are in seconds."""

    def __init__(
        self,
        database: Database,
        *,
        lock_seconds: int,
        keep_seconds: int,
        acquire_seconds_max: float = LIMITS.acquire_seconds_max,
    ) -> None:
        self._acquire_seconds_max = acquire_seconds_max
        self._pool = database.service
        self._lock_seconds, self._keep_seconds = float(lock_seconds), float(keep_seconds)
        self._claims = Batches(self._claim_all, size_max=_BATCH_MAX, concurrency_max=_CONCURRENT_MAX)
        self._completions = Batches(self._finish_all, size_max=_BATCH_MAX, concurrency_max=_CONCURRENT_MAX)
        self._late = LateRecords(self._settle, keep_seconds=self._lock_seconds)

    async def claim(self, claim: IdempotencyClaim) -> ClaimResult:
        """Claim the lease of a key, or return its state. Raises DatabaseUnavailable (503)."""
        try:
            return await self._claims.submit(claim)
        except OutcomeUnknown:
            # It may have been written, and no request runs under it.
            self._late.add((claim, None))
            raise

    async def _claim_all(self, claims: Sequence[IdempotencyClaim]) -> Sequence[ClaimResult]:
        # One statement cannot write a row twice: of several requests with one key the first represents all.
        first = {(claim.caller_id, claim.key_hash): claim for claim in reversed(claims)}
        columns = [[getattr(claim, name) for claim in first.values()] for name in _COLUMNS]
        durations = (self._lock_seconds, self._keep_seconds)
        without_wait = all(claim.is_bound_by_service for claim in claims)
        found = await self._run(lambda connection: connection.fetch(_CLAIM, *columns, *durations, without_wait))
        rows = {(row["caller_id"], row["key_hash"]): row for row in found}
        return [_claim_result(claim, rows[claim.caller_id, claim.key_hash]) for claim in claims]

    async def settle(self, claim: IdempotencyClaim, response: Stored | None) -> None:
        """Store the response, or release the key without one. While the database is away it is done later."""
        try:
            if not await self._settle((claim, response)):
                log.warning("lease ended before its response: another request may have claimed the key")
        except DatabaseUnavailable as error:
            log.error("idempotency record not finished yet: the store is unavailable", error=repr(error))
            self._late.add((claim, response))

    async def _settle(self, settled: tuple[IdempotencyClaim, Stored | None]) -> bool:
        claim, response = settled
        return await (self.release(claim) if response is None else self.finish(claim, response))

    async def finish(self, claim: IdempotencyClaim, response: Stored) -> bool:
        """Store the response; return False if another request claimed the key after this lease ended."""
        return await self._completions.submit((claim, response))

    async def _finish_all(self, finished: Sequence[tuple[IdempotencyClaim, Stored]]) -> Sequence[bool]:
        first = {(claim.caller_id, claim.key_hash): (claim, response) for claim, response in reversed(finished)}
        columns = [
            *([getattr(claim, name) for claim, _ in first.values()] for name in _COLUMNS),
            *([getattr(response, name) for _, response in first.values()] for name in Stored.__struct_fields__),
        ]
        without_wait = all(claim.is_bound_by_service for claim, _ in finished)
        found = await self._run(lambda connection: connection.fetch(_FINISH, *columns, without_wait))
        stored = {row["lease"] for row in found}
        return [claim.token in stored for claim, _ in finished]

    async def release(self, claim: IdempotencyClaim) -> bool:
        """Release the key: the response is not stored. Return False if this lease does not hold it."""
        values = (claim.caller_id, claim.key_hash, claim.token)
        return row_count(await self._run(lambda connection: connection.execute(_RELEASE, *values))) > 0

    @property
    def retention_rule(self) -> RetentionRule:
        """A record is kept as long as its response or its lease is valid."""
        return RetentionRule(
            "idempotency_records",
            ("caller_id", "key_hash"),
            "begun_at",
            timedelta(seconds=max(self._keep_seconds, self._lock_seconds)),
            stamped_by="database",
        )

    async def close(self) -> None:
        """Cancel the running round trips."""
        await self._late.close()
        await self._claims.close()
        await self._completions.close()

    async def _run(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run one statement as the service role, in its own transaction. Raises OutcomeUnknown once it was sent."""
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            try:
                async with self._pool.connection(timeout=self._acquire_seconds_max) as connection:
                    return await work(connection)
            except asyncpg.DeadlockDetectedError:
                if attempt == _ATTEMPTS_MAX:
                    raise
            except DRIVER_ERRORS as error:
                if is_outage_of_statement(error):
                    raise OutcomeUnknown from error
                raise
        raise AssertionError("the loop above returns or raises")


def _claim_result(claim: IdempotencyClaim, row: asyncpg.Record) -> ClaimResult:
    if row["lease"] == claim.token:
        return Leased()
    if row["fingerprint"] != claim.fingerprint:
        return OtherRequest()
    if row["status"] is None:
        return InProgress(max(row["seconds_left"], 0.0))
    return Stored(row["status"], row["content_type"], row["body"])
