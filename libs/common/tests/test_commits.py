"""A COMMIT that waits for a standby: nothing is acknowledged, nor shown, before a second machine has it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import pytest
import pytest_asyncio
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from campus_tools.servers.postgresql import PrivatePostgresql
from common.auth.caller import THE_SERVICE
from common.database.errors import OutcomeUnknown
from common.database.tables import service_metadata
from common.database.unit_of_work import Database, UnitOfWork
from common.messaging.bus import Outgoing
from common.messaging.relay import relay_once
from common.primitives.limits import WaitLimits
from testkit.fixtures import PATIENT, eventually

from .notebook import dispatched

COMMIT_SECONDS_MAX = 1.0
COUNT = "SELECT count(*) FROM effects WHERE name = $1"


@dataclass(frozen=True)
class Primary:
    """A server whose standby can be away, a connection that never waits for it, and a database of the product on it."""

    admin: asyncpg.Connection
    database: Database

    async def remove_standby(self) -> None:
        await self._set_standby("away")

    async def return_standby(self) -> None:
        await self._set_standby("")

    async def _set_standby(self, name: str) -> None:
        await self.admin.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        await self.admin.execute("SELECT pg_reload_conf()")

        async def is_set() -> bool:
            return await self.admin.fetchval("SHOW synchronous_standby_names") == name

        await eventually(is_set)
        # The checkpointer reads the setting, and decides whether commits wait for a standby.
        await self.admin.execute("CHECKPOINT")

    async def shows(self, name: str) -> bool:
        return await self.admin.fetchval(COUNT, name) == 1

    async def waiting_commits(self) -> list[int]:
        rows = await self.admin.fetch("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        return [row["pid"] for row in rows]

    async def end_waiting_commits(self) -> None:
        """Show the waiting transactions to all, as a restart of the server does; only one disk has them."""
        for pid in await self.waiting_commits():
            await self.admin.execute("SELECT pg_terminate_backend($1)", pid)

    async def happens(self, name: str) -> None:
        async with self.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await uow.execute("INSERT INTO effects VALUES ($1)", name)


class RecordingBus:
    """A broker that confirms all messages."""

    def __init__(self) -> None:
        self.published: list[Outgoing] = []

    async def publish(self, messages: list[Outgoing]) -> list[bool]:
        self.published += messages
        return [True] * len(messages)


@pytest_asyncio.fixture(loop_scope="session")
async def primary(tmp_path, held_port) -> AsyncIterator[Primary]:
    server = PrivatePostgresql(tmp_path, held_port(), report=print)
    await asyncio.to_thread(server.start)
    admin = await asyncpg.connect(server.url, server_settings={"synchronous_commit": "local"})
    try:
        await admin.execute("CREATE TABLE effects (name text PRIMARY KEY)")
        for name in ("outbox", "outbox_sequences"):
            table = service_metadata("orders").tables[name]
            await admin.execute(str(CreateTable(table).compile(dialect=postgresql.dialect())))
        limits = WaitLimits(*[PATIENT.statement] * 3, commit=COMMIT_SECONDS_MAX)
        async with Database.connect(api_url=server.url, service_url=server.url, name="test", limits=limits) as database:
            own = Primary(admin, database)
            yield own
            await own.return_standby()
    finally:
        await admin.close()
        await asyncio.to_thread(server.stop)


async def test_a_commit_without_its_standby_is_unknown_and_shows_nothing(primary: Primary) -> None:
    await primary.remove_standby()
    with pytest.raises(OutcomeUnknown):
        await primary.happens("sale")
    # The backend goes on waiting: a cancellation would show what one disk has.
    assert await primary.waiting_commits()
    assert not await primary.shows("sale")
    await primary.return_standby()
    await eventually(lambda: primary.shows("sale"))


async def test_a_commit_on_a_failing_disk_is_unknown(primary: Primary) -> None:
    await primary.admin.execute(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = "
        "'58030'; END $$"
    )
    await primary.admin.execute(
        "CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION fail()"
    )
    with pytest.raises(OutcomeUnknown):
        await primary.happens("sale")


async def test_a_cancelled_caller_waits_for_its_commit(primary: Primary) -> None:
    ended: list[bool] = []

    async def work() -> None:
        async with primary.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            uow.on_end(ended.append)
            await uow.execute("INSERT INTO effects VALUES ('payout')")

    await primary.remove_standby()
    working = asyncio.create_task(work())
    await eventually(primary.waiting_commits)
    working.cancel()
    await asyncio.sleep(0)
    assert not working.done()
    await primary.return_standby()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended == [True]
    assert await primary.shows("payout")


async def test_a_repetition_waits_until_the_first_commit_is_durable(primary: Primary) -> None:
    async def repeat(*, confirms: bool) -> bool:
        async with primary.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if confirms:
                uow.confirm_earlier()
            return await _has(uow, "order")

    await primary.remove_standby()
    with pytest.raises(OutcomeUnknown):
        await primary.happens("order")
    await primary.end_waiting_commits()
    await eventually(lambda: primary.shows("order"))
    assert await repeat(confirms=False)
    with pytest.raises(OutcomeUnknown):
        await repeat(confirms=True)
    await primary.return_standby()
    assert await repeat(confirms=True)


async def test_the_relay_publishes_no_event_that_only_one_machine_has(primary: Primary) -> None:
    bus = RecordingBus()
    await primary.remove_standby()
    with pytest.raises(OutcomeUnknown):
        async with primary.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            uow.publish(dispatched())
    await primary.end_waiting_commits()
    await eventually(lambda: primary.admin.fetchval("SELECT count(*) = 1 FROM outbox"))
    with pytest.raises(OutcomeUnknown):
        await relay_once(primary.database, bus)
    assert bus.published == []
    await primary.return_standby()
    assert await relay_once(primary.database, bus) == 1
    assert len(bus.published) == 1


async def _has(uow: UnitOfWork, name: str) -> bool:
    return await uow.fetch_value(COUNT, name) == 1
