"""The world of a test: an open service with its clock, and the verbs that the tests of all services share.

A service's conftest derives its own world from it, with its users, its providers and its verbs.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import httpx

from common.auth.caller import THE_SERVICE, Caller, ServiceItself
from common.database.unit_of_work import Database
from common.messaging.messages import Received
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from common.process.runtime import Runtime
from common.process.service import background
from contracts.event import Event
from operations.connecting import connected
from testkit.fixtures import DatabaseUrls
from testkit.responses import data_of
from testkit.service_kit import OpenService


@dataclass(eq=False)
class World:
    """An open service and the clock of its test."""

    app: OpenService
    clock: ManualClock

    @property
    def client(self) -> httpx.AsyncClient:
        return self.app.client

    @property
    def dependencies(self) -> Any:
        return self.app.dependencies

    @property
    def settings(self) -> Any:
        return self.app.settings

    @property
    def runtime(self) -> Runtime:
        return self.app.runtime

    @property
    def database(self) -> Database:
        return self.runtime.database

    @property
    def urls(self) -> DatabaseUrls:
        return self.app.urls

    def unit_of_work(self, acting_as: Caller | ServiceItself = THE_SERVICE) -> AbstractAsyncContextManager[Any]:
        """Return a transaction of the service itself, past the row policies, or of a caller."""
        return self.database.unit_of_work(acting_as=acting_as)

    def token(self, user_id: UUID, **claims: Any) -> str:
        return self.app.token(user_id, **claims)

    def headers(self, user_id: UUID, **claims: Any) -> dict[str, str]:
        """Return the headers of a signed-in user."""
        return self.app.headers(user_id, **claims)

    def as_staff(self, role: str, campus_id: UUID | None = None, **more: Any) -> dict[str, str]:
        """Return the headers of a new member of the staff."""
        return self.headers(new_id(), roles=(role,), campus_id=campus_id, **more)

    async def get_as(self, path: str, role: str = "auditor") -> Any:
        """Return the data that a member of the staff reads."""
        return data_of(await self.client.get(path, headers=self.as_staff(role)))

    async def post_as(
        self,
        path: str,
        body: Any,
        role: str,
        by: UUID | None = None,
        *,
        stepped_up: bool = True,
        key: UUID | str | None = None,
    ) -> httpx.Response:
        """Return the response to a POST of a member of the staff."""
        headers = self.headers(by or new_id(), roles=(role,), stepped_up=stepped_up, idempotency_key=key)
        return await self.client.post(path, headers=headers, json=body)

    async def approve(self, path: str, by: UUID | None = None) -> httpx.Response:
        """Read the prepared decision and approve its hash, as a finance checker."""
        shown = await self.get_as(path, "finance_checker")
        return await self.post_as(f"{path}/approve", {"hash": shown["hash"] or "0" * 64}, "finance_checker", by)

    async def receive(self, event: Event, **delivery: Any) -> Received:
        """Deliver an event to the service's consumers; raises their errors."""
        return await self.app.deliver(event, **delivery)

    async def receive_twice(self, event: Event, **delivery: Any) -> None:
        """Deliver the same message two times."""
        received = await self.receive(event, **delivery)
        await self.receive(event, event_id=received.event_id, sequence=received.sequence)

    async def work(self, queue: str, **delivery: Any) -> int:
        """Process the work items in the outbox for a queue, once each; return their number."""
        return await self.app.work(queue, **delivery)

    @asynccontextmanager
    async def running(self, process: str) -> AsyncIterator[None]:
        """Run the background tasks of the service's process `api` or `worker`, over the real broker."""
        app = self.app
        tasks = [
            asyncio.ensure_future(task) for task in background(app.service, app.runtime, app.dependencies, process)
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def published(self, event_type: str) -> list[dict[str, Any]]:
        """Return the data of the published events of this type, oldest first."""
        return await self.app.published(event_type)

    async def fetch(self, statement: str, *values: Any) -> list[Any]:
        """Rows of the service's database, without row policies."""
        return await self.app.fetch(statement, *values)

    async def fetch_as_owner(self, statement: str, *values: Any) -> list[Any]:
        """As `fetch`, for what no process of the service may do."""
        return await self.app.fetch_as_owner(statement, *values)

    @asynccontextmanager
    async def connected(self, role: str = "owner") -> AsyncIterator[asyncpg.Connection]:
        """Yield a connection past the service's pool, as `owner`, `admin`, `service` or `api`."""
        async with connected(getattr(self.urls, role)) as connection:
            yield connection

    @asynccontextmanager
    async def tampering(self) -> AsyncIterator[asyncpg.Connection]:
        """Yield a connection of the server's administrator that no trigger and no foreign key stops."""
        async with self.connected("admin") as admin:
            await admin.execute("SET session_replication_role = replica")
            yield admin

    async def tamper(self, statement: str, *values: Any) -> None:
        """Change at least one row by `tampering`."""
        async with self.tampering() as admin:
            assert not (await admin.execute(statement, *values)).endswith(" 0")

    @asynccontextmanager
    async def crashing(
        self, condition: str = "true", *, operation: str = "INSERT", table: str = "outbox"
    ) -> AsyncIterator[None]:
        """Fail every transaction whose operation on the table meets the condition, as a crash before the commit
        does. By default each transaction that publishes an event fails.
        """
        async with self.connected() as owner:
            await owner.execute(
                "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$;"
                f"CREATE TRIGGER crash BEFORE {operation} ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE "
                "FUNCTION crash()"
            )
            try:
                yield
            finally:
                await owner.execute("DROP FUNCTION crash CASCADE")

    async def snapshot(self) -> dict[str, list[Any]]:
        """Return all rows that the service reads, to prove that a rejected request changed nothing."""
        tables = await self.fetch(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' "
            "AND has_table_privilege(oid, 'SELECT') ORDER BY relname"
        )
        names = [row["relname"] for row in tables if row["relname"] != "alembic_version"]
        return {
            name: [tuple(row) for row in await self.fetch(f"SELECT t::text FROM {name} t ORDER BY 1")] for name in names
        }

    async def remove_old(self) -> int:
        """One round of the worker's retention; return the number of purged rows."""
        return await self.app.remove_old()

    async def tables_with(self, text: str) -> set[str]:
        """Return the tables that contain the text, whatever its case."""
        rows = await self.fetch(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = "
            "'public'::regnamespace AND relname <> 'alembic_version'"
        )
        statement = 'SELECT 1 FROM "{}" t WHERE t::text ILIKE $1 LIMIT 1'
        return {name for (name,) in rows if await self.fetch(statement.format(name), f"%{text}%")}
