"""The service's PostgreSQL database with its two roles, and the unit of work: one transaction per request or message.

Row policies limit the role `api`; `service` bypasses them for functions, consumers and jobs (contract section 5).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg

from common.auth.caller import Caller, ServiceItself
from common.database import outbox
from common.database.caller_reads import CallerReads
from common.database.commits import CONFIRM_AND_COMMIT, roll_back, row_count, uncancelled
from common.database.connecting import pool_of
from common.database.connection_pool import ConnectionPool
from common.database.errors import (
    BROKEN,
    STATEMENT_ERRORS,
    UNAVAILABLE,
    DatabaseUnavailable,
    OutcomeUnknown,
    TransactionRequired,
    raise_outage,
)
from common.database.late_transactions import FirstWrites, LateConnection
from common.database.row_settings import start_as, with_settings
from common.database.transaction_statements import TransactionStatements
from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.observability.telemetry import database_span, trace_headers
from common.primitives.changing import CHANGES
from common.primitives.encryption import Encryptor
from common.primitives.limits import WAIT_LIMITS, WaitLimits
from common.primitives.retry import jittered
from common.primitives.signatures import Signatures, SigningKey, VerifyKeys
from contracts.event import Event

log = get_logger(__name__)

Acting = Caller | ServiceItself
ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

# Ten per role and process: twelve processes stay below PostgreSQL's default limits, and saturate two cores earlier.
POOL_CONNECTIONS_MAX = 10
CONNECTIONS_FOR_READS = 2
"""Those that transactions leave to reads."""
# After three attempts a conflict is raised to the caller.
CONFLICT_ATTEMPTS_MAX = 3


class Reads(Protocol):
    """Source of rows for a query: a unit of work, or the single statements of `Database.reads_for`."""

    async def fetch(self, statement: str, *values: object) -> list[asyncpg.Record]:
        """All rows of a bounded statement."""

    async def fetch_row(self, statement: str, *values: object) -> asyncpg.Record | None:
        """Return the first row, or None."""

    async def fetch_value(self, statement: str, *values: object) -> Any:
        """Return the first column of the first row, or None."""


class UnitOfWork(TransactionStatements):
    """One transaction of one caller. Its events are published only if it commits."""

    def __init__(
        self,
        connection: asyncpg.Connection | LateConnection,
        acting_as: Acting,
        signatures: Signatures | None = None,
        *,
        is_shared: bool = False,
        is_published: Callable[[str], bool] = lambda event_type: True,
        handover: outbox.Handover,
    ) -> None:
        super().__init__(connection, is_shared=is_shared)
        self._is_published = is_published
        self.acting_as = acting_as
        self._signatures = signatures
        self._outbox_rows: list[outbox.OutboxRow] = []
        self._appended: list[outbox.OutboxRow] = []
        # Its lease begins with the relay of the process, which may be after BEGIN.
        self._handover = handover
        self._wakes_relay = False
        self._deferred: dict[tuple[int, Callable[[UnitOfWork, Sequence[Any]], Awaitable[None]]], list[Any]] = {}
        self._on_end: list[Callable[[bool], None]] = []
        self._confirms_earlier = CHANGES.get()
        self.first_count = 0
        """Rows that the statement in BEGIN's round trip changed."""

    def publish(self, event: Event, *, source: str | None = None, wake_relay: bool = True) -> None:
        """Publish an event if, and only if, this transaction commits (docs/decisions: outbox).

        An event with `wake_relay=False` is published with the next one, or within a second: several share one commit.
        An event on request is dropped while no team requests its type.
        """
        if self._is_published(event.TYPE):
            self._wakes_relay |= wake_relay
            self._outbox_rows.append(outbox.event_row(event, trace_headers(), source))

    async def fetch_row_and_publish(
        self, writes: outbox.Writes, *values: object, event: Event | None
    ) -> asyncpg.Record:
        """Run the writes and the attached ones, and publish the event in the same round trip where the condition of the
        writes holds. Return the row of all.

        The event's subject must be locked by this transaction. The event is published at the end where it must follow
        another one of its subject, or in a transaction of several messages, which locks the sequences of its subjects
        in one order.
        """
        # An earlier event of the subject has the lower sequence.
        follows = event is not None and (
            self._is_shared or any(row.subject == event.subject for row in self._outbox_rows)
        )
        parts = self._with_attached(writes, values)
        if self._late is not None and self._late.is_unlocked:
            return await self._commit_unlocked(self._late, parts, event)
        if event is None or follows or not self._is_published(event.TYPE):
            result = await self._fetch_joined(parts, is_last=False)
            if event is not None and result["is_published"]:
                self.publish(event)
            return result
        row = outbox.event_row(event, trace_headers(), None)
        together = outbox.together(*((one.writes, len(one.values)) for one in parts))
        result, appended = await outbox.append_with(
            self._connection,
            row,
            self._handover.lease_seconds,
            together,
            [value for one in parts for value in one.values],
        )
        for one in parts:
            one.then(result)
        self._add_appended(appended)
        return result

    async def _commit_unlocked(
        self, late: LateConnection, parts: Sequence[outbox.Attached], event: Event | None
    ) -> asyncpg.Record:
        """Run the writes as the whole transaction. Raises TransactionRequired where others may follow, or where the row
        that was read has changed.
        """
        if self._is_followed() or any(one.writes.final is None for one in parts):
            raise TransactionRequired
        is_published = event is not None and self._is_published(event.TYPE)
        row = outbox.event_row(event, trace_headers(), None) if event is not None and is_published else None
        result = await late.commit_alone(parts, row, self._handover.lease_seconds)
        for one in parts:
            one.then(result)
        self._add_appended(late.appended)
        return result

    def _add_appended(self, appended: outbox.OutboxRow | None) -> None:
        if appended is not None:
            self._wakes_relay = True
            self._appended.append(appended)

    def enqueue_work(self, queue: str, subject: UUID | str, payload: Mapping[str, object]) -> None:
        """Enqueues a work item for the service's own worker if, and only if, this transaction commits."""
        self._wakes_relay = True
        self._outbox_rows.append(outbox.work_row(queue, str(subject), payload, trace_headers()))

    def defer(
        self, write: "Callable[[UnitOfWork, Sequence[ItemT]], Awaitable[None]]", item: ItemT, *, rank: int = 0
    ) -> None:
        """Call `write` once before the commit, with all items that were deferred to it: one statement for many.

        Writes of a lower `rank` come first, whichever was deferred first: their locks have one order.
        """
        self._deferred.setdefault((rank, write), []).append(item)

    def confirm_earlier(self) -> None:
        """Lets the commit wait for earlier effects that were found, too: a second machine may not have them yet."""
        self._confirms_earlier = True

    def on_end(self, callback: Callable[[bool], None]) -> None:
        """Call back after the transaction: with True after its commit, else with False."""
        self._on_end.append(callback)

    @property
    def signing_key(self) -> SigningKey:
        """The key with which this service signs statements. Raises LookupError when the service has none."""
        if self._signatures is None or self._signatures.signing_key is None:
            raise LookupError("this service was composed without a signing key")
        return self._signatures.signing_key

    @property
    def verify_keys(self) -> VerifyKeys:
        """The keys whose signatures this service accepts. Raises LookupError when the service has none."""
        if self._signatures is None or self._signatures.verify_keys is None:
            raise LookupError("this service was composed without keys to verify with")
        return self._signatures.verify_keys

    @property
    def checkpoints(self) -> Encryptor:
        """The keys that authenticate the service's own sums. Raises LookupError when the service has none."""
        if self._signatures is None or self._signatures.checkpoints is None:
            raise LookupError("this service was composed without keys of checkpoints")
        return self._signatures.checkpoints

    def _is_followed(self) -> bool:
        return bool(self._deferred or self._outbox_rows)

    async def _write_deferred(self) -> Sequence[outbox.OutboxRow]:
        """Write what was deferred, then the outbox rows, which are returned."""
        self._is_ending = True
        while self._deferred:
            rank, write = min(self._deferred, key=lambda key: key[0])
            await write(self, self._deferred.pop((rank, write)))
        if self._attached:
            attached, self._attached = self._attached, []
            await self._fetch_joined(attached, is_last=True)
        if self._outbox_rows:
            if self._late is not None and self._late.is_committed:
                raise AssertionError("an event follows the statement that was the whole transaction")
            self._appended += await outbox.append(self._connection, self._outbox_rows, self._handover.lease_seconds)
        if self._late is not None and self._late.is_open:
            if self._late.is_unlocked:
                raise TransactionRequired
            await self._late.commit_alone([])
        return self._appended


@dataclass(slots=True)
class Database:
    """The two connection pools of a service, and the rows that it hands over to its relay."""

    api: ConnectionPool
    service: ConnectionPool
    limits: WaitLimits = WAIT_LIMITS
    namespace: str = ""
    """The database's name, for spans."""
    # A signature covers rows of its transaction, so the unit of work holds the keys.
    signatures: Signatures | None = None
    is_published: Callable[[str], bool] = lambda event_type: True
    handover: outbox.Handover = field(default_factory=outbox.Handover)
    # One log entry for the process, not one for every request, loop and message.
    outage: Outage = field(default_factory=lambda: Outage(log, "database unavailable", "database available again"))

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, *, api_url: str, service_url: str, name: str, limits: WaitLimits = WAIT_LIMITS
    ) -> AsyncIterator[Self]:
        """Open both pools and closes them at the end. `name` is shown in pg_stat_activity."""
        async with (
            pool_of(api_url, name, limits, POOL_CONNECTIONS_MAX, for_reads=CONNECTIONS_FOR_READS) as api,
            pool_of(service_url, name, limits, POOL_CONNECTIONS_MAX, for_reads=CONNECTIONS_FOR_READS) as service,
        ):
            api.register_metrics("api")
            service.register_metrics("service")
            yield cls(api=api, service=service, limits=limits, namespace=urlsplit(api_url).path.lstrip("/"))

    @asynccontextmanager
    async def unit_of_work(
        self,
        *,
        acting_as: Acting,
        async_commit: bool = False,
        is_shared: bool = False,
        first: str = "",
        late: FirstWrites | None = None,
    ) -> AsyncIterator[UnitOfWork]:
        """One transaction for a caller. It commits at the end of the `async with`, before the response is sent.

        The commit is durable then, unless `async_commit`: a crash of the server may lose the last moments of work that
        can be repeated without harm. Such a commit does not wait for the disk, which is most of the cost of a small
        commit. `is_shared`: several messages are handled in it, whose locks have one order. `first`: a statement
        in BEGIN's round trip. It returns no rows; `UnitOfWork.first_count` is the number that it changed. `late`: the
        transaction starts with these writes, together with the first other write or lock.

        An exception rolls everything back. Serialization failures (40001) and deadlocks (40P01) are raised as
        asyncpg's own errors: the HTTP layer returns 409, a consumer retries the message, and `transact` retries.
        """
        pool = self.api if isinstance(acting_as, Caller) else self.service
        start = start_as(acting_as) if isinstance(acting_as, Caller) else "BEGIN"
        if async_commit:
            start += "; SET LOCAL synchronous_commit = off"
        if first:
            start += f"; {first}"
        connection = await self._acquire(pool)
        committed = False
        late_connection = None if late is None else LateConnection(connection, late, self.limits.commit)
        work = UnitOfWork(
            late_connection or connection,
            acting_as,
            self.signatures,
            is_shared=is_shared,
            is_published=self.is_published,
            handover=self.handover,
        )
        try:
            with database_span("transaction", self.namespace, (DatabaseUnavailable, OutcomeUnknown)):
                try:
                    # BEGIN and the settings of the row policies take one round trip.
                    if late_connection is None:
                        work.first_count = row_count(await connection.execute(start))
                        self.outage.ended()
                    yield work
                    appended = await work._write_deferred()
                    if late_connection is not None and late_connection.is_committed:
                        stop = late_connection.stop
                    else:
                        commit = CONFIRM_AND_COMMIT if work._confirms_earlier and not appended else "COMMIT"
                        stop = await self._commit(connection, commit)
                    committed = True
                except STATEMENT_ERRORS as error:
                    raise_outage(error, self.outage)
                    raise
                finally:
                    if not committed and work.is_started:
                        await roll_back(connection)
        finally:
            await pool.release(connection)
            for callback in work._on_end:
                callback(committed)
        if appended:
            self.handover.add(appended, wakes_relay=work._wakes_relay)
        if stop is not None:
            raise stop

    async def _commit(self, connection: asyncpg.Connection, statement: str) -> asyncio.CancelledError | None:
        """Commit, and returns the cancellation of the caller in the meantime. Raises OutcomeUnknown."""
        try:
            _, stop = await uncancelled(
                connection, lambda timeout: connection.execute(statement, timeout=timeout), self.limits.commit
            )
        except (*BROKEN, *UNAVAILABLE) as error:
            self.outage.failed(error)
            raise OutcomeUnknown from error
        return stop

    def reads_for(self, acting_as: Acting) -> Reads:
        """Read of a caller, each statement a transaction of its own in one round trip instead of three."""
        return CallerReads(self.fetch_for, acting_as)

    async def fetch_for(self, acting_as: Acting, statement: str, *values: object) -> list[asyncpg.Record]:
        """Return the rows of one bounded SELECT under the row policies of the caller, in one round trip.

        The settings of the policies end with the statement, also after an error.
        """
        if not isinstance(acting_as, Caller):
            return await self._fetch_alone(self.service, statement, *values)
        wrapped = with_settings(statement, len(values))
        return await self._fetch_alone(self.api, wrapped, *values, *acting_as.row_settings)

    async def fetch_public(self, statement: str, *values: object) -> list[asyncpg.Record]:
        """Return the public rows of one bounded SELECT, in one round trip, for hot reads.

        Row policies see no caller, so the API role returns the rows that an anonymous caller may read.
        """
        return await self._fetch_alone(self.api, statement, *values)

    async def _fetch_alone(self, pool: ConnectionPool, statement: str, *values: object) -> list[asyncpg.Record]:
        """Run a statement without BEGIN: PostgreSQL commits it alone."""
        connection = await self._acquire(pool, is_read=True)
        try:
            with database_span("read", self.namespace, (*BROKEN, *UNAVAILABLE)):
                rows: list[asyncpg.Record] = await connection.fetch(statement, *values)
        except (asyncio.CancelledError, *STATEMENT_ERRORS) as error:
            if isinstance(error, (asyncio.CancelledError, *BROKEN)):
                # PostgreSQL may still be running the statement.
                connection.terminate()
            raise_outage(error, self.outage)
            raise
        finally:
            await pool.release(connection)
        self.outage.ended()
        return rows

    async def _acquire(self, pool: ConnectionPool, *, is_read: bool = False) -> asyncpg.Connection:
        try:
            return await pool.acquire_available(timeout=self.limits.connection_acquire, is_read=is_read)
        except DatabaseUnavailable as error:
            self.outage.failed(error.__cause__ or error)
            raise

    async def transact(self, *, acting_as: Acting, work: Callable[[UnitOfWork], Awaitable[ResultT]]) -> ResultT:
        """Run `work` in a unit of work, up to three times on serialization failures and deadlocks.

        `work` must have no effects outside its transaction.
        """
        for attempt in range(1, CONFLICT_ATTEMPTS_MAX + 1):
            try:
                async with self.unit_of_work(acting_as=acting_as) as uow:
                    return await work(uow)
            except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError):
                if attempt == CONFLICT_ATTEMPTS_MAX:
                    raise
                await asyncio.sleep(jittered(0.02 * attempt))
        raise AssertionError("the loop above returns or raises")
