"""Retention: expired rows are removed in small steps (decision 23).

A service declares retention rules, and each of its workers removes the oldest rows. A step locks at most `rows_max`
rows, skips locked ones, and commits. Workers never wait for one another, and a crash leaves only complete steps.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from common.auth.caller import ServiceItself
from common.database.errors import is_unavailable
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.observability.telemetry import (
    RETENTION_ASTRAY_ROWS,
    RETENTION_FAILURES,
    RETENTION_OVERDUE_SECONDS,
    RETENTION_PARTITIONS,
    RETENTION_ROWS_REMOVED,
)
from common.primitives.clock import Clock

log = get_logger(__name__)

REMOVING: Final = ServiceItself("retention of expired rows")
# A step of a thousand rows holds their locks for a few hundredths of a second (decision 23).
BATCH_ROWS: Final = 1_000
# The pause gives other work access to disk and log. A round removes at most a hundred thousand rows of a table.
PAUSE_SECONDS: Final = 0.05
BATCHES_MAX: Final = 100
EVERY_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Removes rows of a table when `keep` has passed since the time in the column `since`, if `over` is true.

    `over` is SQL on the row; `$1` in it is the time up to which rows expire. `followers` are dependent rows that are
    removed as well: the table, and its column with the single key. An index on `since` makes a step cheap.
    """

    table: str
    keys: tuple[str, ...]
    since: str
    keep: timedelta
    over: str = "true"
    followers: Mapping[str, str] = field(default_factory=dict)
    # Followers whose `id` is that of a stored image: the table, and its column with the image's owner. The cleanup of
    # images (`common.media.cleanup`) removes the files.
    image_owners: Mapping[str, str] = field(default_factory=dict)
    # The clock that wrote `since`. The two clocks differ in tests only, but there by years.
    stamped_by: Literal["service", "database"] = "service"
    # Removes by whole months, like the partitions with the related rows.
    whole_months: bool = False
    rows_max: int = BATCH_ROWS
    # Distinguishes two rules of one table.
    called: str = ""
    # A function of the owner that removes one step, `remover(until, rows_max)`, for rows that the service may not
    # delete. It repeats `over` and `followers`, and rejects rows that are too young.
    remover: str = ""
    # A statement after the steps of a round, with `$1` as in `over`.
    final_statement: str = ""

    @property
    def name(self) -> str:
        return self.called or self.table

    @property
    def removal(self) -> str:
        """The statement of one step. It selects the old rows first, so that it locks only rows that it removes."""
        if self.remover:
            return f"SELECT {self.remover}($1, {self.rows_max})"
        chosen = ", ".join(self.keys)
        same = " AND ".join(f"going.{key} = old.{key}" for key in self.keys)
        followers = "".join(
            f", gone_{table} AS (DELETE FROM {table} USING old WHERE {table}.{column} = old.{self.keys[0]}"
            f"{self._returning(table)})"
            for table, column in self.followers.items()
        )
        followers += "".join(
            f", listed_{table} AS (INSERT INTO leaving_pictures (picture_id, owner_id, leave_at) "
            f"SELECT id, owner_id, $1 + interval '{self.keep.total_seconds():.0f} seconds' FROM gone_{table} "
            "ORDER BY id ON CONFLICT DO NOTHING)"
            for table in self.image_owners
        )
        return f"""
        WITH old AS MATERIALIZED (
            SELECT {chosen} FROM {self.table} WHERE {self.since} <= $1 AND {self.over}
            ORDER BY {self.since} LIMIT {self.rows_max} FOR UPDATE OF {self.table} SKIP LOCKED
        ){followers}
        DELETE FROM {self.table} AS going USING old WHERE {same}
        """

    def _returning(self, table: str) -> str:
        owner = self.image_owners.get(table)
        return f" RETURNING {table}.id, {table}.{owner} AS owner_id" if owner else ""

    @property
    def oldest(self) -> str:
        """The query of the oldest expired row's time."""
        return (
            f"SELECT {self.since} FROM {self.table} WHERE {self.since} <= $1 AND {self.over} ORDER BY {self.since} "
            "LIMIT 1"
        )


@dataclass(frozen=True, slots=True)
class Partitioned:
    """A log in monthly partitions (`migrations/sql/40_delivery_logs.sql` of notifications has one).

    Partitions are created ahead, and dropped when all their rows have expired.
    """

    table: str
    keep: timedelta
    # Rows still have a partition when the job fails for weeks.
    ahead: timedelta = timedelta(days=62)

    @property
    def name(self) -> str:
        return self.table

    @property
    def turning(self) -> str:
        """The call of the owner's function that creates and drops partitions, which belong to the owner."""
        return f"SELECT made, dropped, astray FROM {self.table}_turn_months($1, $2)"


Rule = RetentionRule | Partitioned

# The ends of the existing months, read from the catalog without a lock.
_OLDEST_MONTH: Final = """
SELECT min((regexp_match(pg_get_expr(part.relpartbound, part.oid), $$TO \\('([^']+)'\\)$$))[1]::timestamptz)
FROM pg_inherits JOIN pg_class AS part ON part.oid = inhrelid WHERE inhparent = $1::text::regclass
"""


async def purge_expired_once(
    database: Database, rules: Sequence[Rule], clock: Clock, *, pause_seconds: float = PAUSE_SECONDS
) -> int:
    """Run all rules once, and returns the number of removed rows. A failed rule is logged and counted."""
    removed = 0
    for rule in rules:
        try:
            if isinstance(rule, RetentionRule):
                removed += await _remove(database, rule, clock, pause_seconds)
            else:
                await _turn_months(database, rule, clock)
        except Exception as error:
            RETENTION_FAILURES.labels(rule.name).inc()
            if not is_unavailable(error):
                log.error(
                    "retention failed: expired rows not removed", table=rule.table, error=repr(error), exc_info=error
                )
    return removed


async def _remove(database: Database, rule: RetentionRule, clock: Clock, pause_seconds: float) -> int:
    until = await _until(database, rule, clock)
    removed, deleted = 0, rule.rows_max
    for step in range(BATCHES_MAX):
        if step:
            await asyncio.sleep(pause_seconds)
        async with database.unit_of_work(acting_as=REMOVING) as uow:
            step_of = uow.fetch_value if rule.remover else uow.execute
            deleted = await step_of(rule.removal, until)
        removed += deleted
        RETENTION_ROWS_REMOVED.labels(rule.name).inc(deleted)
        if deleted < rule.rows_max:
            break
    if rule.final_statement:
        async with database.unit_of_work(acting_as=REMOVING) as uow:
            await uow.execute(rule.final_statement, until)
    oldest: datetime | None = await database.reads_for(REMOVING).fetch_value(rule.oldest, until)
    RETENTION_OVERDUE_SECONDS.labels(rule.name).set((until - oldest).total_seconds() if oldest else 0)
    return removed


async def _until(database: Database, rule: RetentionRule, clock: Clock) -> datetime:
    now = clock.now()
    if rule.stamped_by == "database":
        now = await database.reads_for(REMOVING).fetch_value("SELECT now()")
    return start_of_month(now - rule.keep) if rule.whole_months else now - rule.keep


async def _turn_months(database: Database, rule: Partitioned, clock: Clock) -> None:
    until = start_of_month(clock.now() - rule.keep)
    async with database.unit_of_work(acting_as=REMOVING) as uow:
        oldest: datetime | None = await uow.fetch_value(_OLDEST_MONTH, rule.table)
        RETENTION_OVERDUE_SECONDS.labels(rule.name).set(max(0.0, (until - oldest).total_seconds()) if oldest else 0)
        turned = await uow.fetch_row(rule.turning, clock.now() + rule.ahead, until)
    # NULL: another worker is running the function.
    if turned is not None and turned["astray"] is not None:
        RETENTION_PARTITIONS.labels(rule.name, "made").inc(turned["made"])
        RETENTION_PARTITIONS.labels(rule.name, "dropped").inc(turned["dropped"])
        RETENTION_ASTRAY_ROWS.labels(rule.name).set(turned["astray"])


def start_of_month(instant: datetime) -> datetime:
    """Midnight (UTC) at the start of the month of `instant`."""
    return instant.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
