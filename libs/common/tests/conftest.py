"""A database with the mechanisms of the library and one table of its own, `notes`, under row security."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from common.database.tables import attach_ledger_tables, service_metadata
from common.database.unit_of_work import Database
from common.messaging.bus import Bus
from common.messaging.topology import Topology, declare_topology
from common.migrations.schema import create_schema
from common.primitives.retry import RetryLadder
from testkit.fixtures import PATIENT, DatabaseUrls, EmptyDatabaseFactory

NOTES = (
    "CREATE TABLE notes (id uuid PRIMARY KEY, owner_id uuid NOT NULL, text text NOT NULL)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO campus_orders_api",
    "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY notes_of_their_owner ON notes USING (owner_id = app_user_id() OR app_may('orders:read')) "
    "WITH CHECK (owner_id = app_user_id())",
)
FAST_LADDER = RetryLadder((0.05, 0.1))


@dataclass(frozen=True)
class Mechanisms:
    urls: DatabaseUrls
    database: Database


@pytest_asyncio.fixture(loop_scope="session")
async def mechanisms(empty_database: EmptyDatabaseFactory) -> AsyncIterator[Mechanisms]:
    urls = await empty_database()
    await _migrate(urls.owner)
    async with Database.connect(api_url=urls.api, service_url=urls.service, name="test", limits=PATIENT) as database:
        yield Mechanisms(urls, database)


@pytest_asyncio.fixture(loop_scope="session")
async def bus(broker_url: str) -> AsyncIterator[Bus]:
    # No service consumes opened tickets.
    types = ["orders.order_dispatched.v1", "orders.order_completed.v1", "notifications.ticket_opened.v1"]
    bindings = {"tests.orders": types, "tests.work": []}
    topology = Topology("campus.events", "campus.public", bindings, ladder=FAST_LADDER)
    await declare_topology(broker_url, topology)
    bus = Bus(broker_url, topology, "test", PATIENT.broker_connect)
    yield bus
    await bus.close()


async def _migrate(owner_url: str) -> None:
    engine = create_async_engine(owner_url.replace("postgresql://", "postgresql+asyncpg://"))

    metadata = service_metadata("orders")
    attach_ledger_tables(metadata)
    async with engine.begin() as connection:
        await connection.run_sync(create_schema, metadata)
        for statement in NOTES:
            await connection.execute(sa.text(statement))
    await engine.dispose()
