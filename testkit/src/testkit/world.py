"""The world of a test: an open service with its clock, and the verbs that the tests of all services share.

A service's conftest derives its own world from it, with its users, its providers and its verbs.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx

from common.auth.caller import THE_SERVICE, Caller, ServiceItself
from common.database.unit_of_work import Database
from common.messaging.messages import Received
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from common.process.runtime import Runtime
from contracts.event import Event
from testkit.fixtures import DatabaseUrls
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

    async def published(self, event_type: str) -> list[dict[str, Any]]:
        """Return the data of the published events of this type, oldest first."""
        return await self.app.published(event_type)

    async def fetch(self, statement: str, *values: Any) -> list[Any]:
        """Rows of the service's database, without row policies."""
        return await self.app.fetch(statement, *values)

    async def fetch_as_owner(self, statement: str, *values: Any) -> list[Any]:
        """As `fetch`, for what no process of the service may do."""
        return await self.app.fetch_as_owner(statement, *values)

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
