"""A service opened inside a test: the real application, database and broker, with a clock and an identity provider of
the test.

async with opened(SERVICE, urls, broker_url, clock=clock, cursor_key="...") as service:
    response = await service.client.get("/api/orders", headers=service.headers(buyer))
    await service.deliver(EscrowHeld(...))
    assert await service.published("orders.delivery_pin_issued.v1")
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import jwt
import msgspec
import uvicorn
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm
from starlette.types import ASGIApp

from common.auth.caller import THE_SERVICE
from common.auth.tokens import AUDIENCE
from common.database.retention import purge_expired_once
from common.messaging.consumers import Consumers
from common.messaging.messages import Received
from common.messaging.topology import declare_topology, declared_topology
from common.primitives.clock import Clock, SystemClock
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from common.process.consuming import consumers_of
from common.process.runtime import Runtime, Service, running
from common.web.http_protocol import JoinedProtocol
from contracts.event import Event
from contracts.permissions import SECOND_FACTOR_ROLES, leading_role
from operations.connecting import connected
from testkit.fixtures import PATIENT, DatabaseUrls
from testkit.lent_apps import lent_app
from testkit.published_responses import PublishedResponses

BASE_URL = "http://localhost:8080"
CURSOR_KEY = "a cursor key for tests"
SERVICE_ROLE_KEY = "a-service-role-key-for-tests"
# A request that a test left open ends by itself within this time, or is cancelled.
OPEN_REQUESTS_SECONDS = 1.0
TOKEN_SECONDS = 15 * 60


@dataclass(slots=True)
class Issuer:
    """An identity provider for tests: mints tokens as the identity service does, and serves its keys over HTTP."""

    clock: Clock
    jwks_url: str = ""
    kid: str = "test-key"
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    def token(
        self,
        user_id: UUID,
        *,
        roles: tuple[str, ...] | list[str] = ("buyer",),
        vendor_id: UUID | None = None,
        campus_id: UUID | None = None,
        hub_id: UUID | None = None,
        packing_vendor_id: UUID | None = None,
        stepped_up: bool | None = None,
        **claims: Any,
    ) -> str:
        """Return a token of a user for 15 minutes; `stepped_up` makes it AAL2 since now. Further keyword arguments
        replace claims.

        Staff whose permissions need a second factor show it at once, unless `stepped_up` says otherwise.
        """
        now = int(self.clock.now().timestamp())
        if stepped_up is None:
            stepped_up = not SECOND_FACTOR_ROLES.isdisjoint(roles)
        methods = [{"method": name, "timestamp": now} for name in ("password", *(["totp"] if stepped_up else []))]
        content = {
            "iss": BASE_URL,
            "aud": AUDIENCE,
            "sub": str(user_id),
            "iat": now,
            "exp": now + TOKEN_SECONDS,
            "session_id": str(new_id()),
            "role": leading_role(roles),
            "aal": "aal2" if stepped_up else "aal1",
            "email_verified": True,
            "amr": methods,
            "app_metadata": {
                "roles": list(roles),
                "vendor_id": str(vendor_id) if vendor_id else None,
                "campus_id": str(campus_id) if campus_id else None,
                "hub_id": str(hub_id) if hub_id else None,
                "packing_vendor_id": str(packing_vendor_id) if packing_vendor_id else None,
            },
            **claims,
        }
        return jwt.encode(content, self.key, algorithm="EdDSA", headers={"kid": self.kid})

    def jwks(self) -> dict[str, Any]:
        """Return the public key set, as `/.well-known/jwks.json` shows it."""
        public = OKPAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": self.kid, "alg": "EdDSA", "use": "sig"}]}


def second_factor_at(at: datetime) -> dict[str, object]:
    """Return the entry of `amr` for a second factor that was verified at this time."""
    return {"method": "totp", "timestamp": int(at.timestamp())}


@asynccontextmanager
async def issuing(clock: Clock | None = None) -> AsyncIterator[Issuer]:
    """Yield an issuer whose keys are served on a real socket."""
    issuer = Issuer(clock or SystemClock())

    async def keys(_: web.Request) -> web.Response:
        return web.json_response(issuer.jwks())

    app = web.Application()
    app.router.add_get("/.well-known/jwks.json", keys)
    # It ends at once: nearly every test has an issuer of its own, and uvicorn checks only ten times a second.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        issuer.jwks_url = f"http://127.0.0.1:{runner.addresses[0][1]}/.well-known/jwks.json"
        yield issuer
    finally:
        await runner.cleanup()


@asynccontextmanager
async def served(
    app: ASGIApp,
    *,
    port: int = 0,
    send_buffer_bytes: int | None = None,
    date_header: bool = True,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[str]:
    """Yield an ASGI application on a port of this machine, by default a free one; yields its address.

    With `send_buffer_bytes` the machine itself holds no more than about that for a reader who does not read. Without
    `date_header` the application sets the time of its responses. With `tls` the port speaks TLS.
    """
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if send_buffer_bytes is not None:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    opened.bind(("127.0.0.1", port))
    config = uvicorn.Config(
        app,
        http=JoinedProtocol,
        log_config=None,
        lifespan="off",
        access_log=False,
        date_header=date_header,
        timeout_keep_alive=75,  # As in production, and longer than any client keeps a connection.
        ssl_context_factory=None if tls is None else lambda _config, _default: tls,
    )
    async with listening(config, opened):
        yield f"{'https' if tls else 'http'}://127.0.0.1:{opened.getsockname()[1]}"


@asynccontextmanager
async def listening(config: uvicorn.Config, on: socket.socket) -> AsyncIterator[None]:
    """Yield a server of uvicorn on a bound socket, without its signal handlers and its waits of tenths of a second."""
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[on])
    await server.on_tick(0)  # Sets the headers of all responses.
    state = server.server_state
    try:
        yield
    finally:
        for listener in server.servers:
            listener.close()
        for connection in list(state.connections):
            connection.shutdown()
        if state.tasks:
            _, late = await asyncio.wait(state.tasks, timeout=OPEN_REQUESTS_SECONDS)
            for task in late:
                task.cancel()
        while state.connections or state.tasks:
            await asyncio.sleep(0.002)


@dataclass(slots=True)
class OpenService:
    """A service in hand: its HTTP client, its runtime and dependencies, and its consumers."""

    service: Service
    settings: Any
    runtime: Runtime
    dependencies: Any
    client: httpx.AsyncClient
    issuer: Issuer
    consumers: Consumers
    urls: DatabaseUrls
    app: ASGIApp
    """What `client` calls, for a test that serves it on a port."""
    _sequences: dict[str, int] = field(default_factory=dict)

    def token(self, user_id: UUID, **claims: Any) -> str:
        """Return a token of a user; see `Issuer.token`."""
        return self.issuer.token(user_id, **claims)

    def headers(self, user_id: UUID, *, idempotency_key: UUID | str | None = None, **claims: Any) -> dict[str, str]:
        """Return the Authorization header of a user, and an Idempotency-Key where one is given."""
        headers = {"Authorization": f"Bearer {self.issuer.token(user_id, **claims)}"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = str(idempotency_key)
        return headers

    async def deliver(
        self,
        event: Event,
        *,
        event_id: UUID | None = None,
        sequence: int | None = None,
        attempt: int = 1,
        is_last_attempt: bool = False,
    ) -> Received:
        """Deliver an event to the service's consumers as the broker would; raises what they raise.

        Call it again with the returned `event_id` to deliver the same message twice.
        """
        if sequence is None:
            sequence = self._sequences.get(event.subject, 0) + 1
            self._sequences[event.subject] = sequence
        now = self.runtime.clock.now().isoformat()
        source = f"/services/{event.publisher()}"
        received = Received(
            event_id or new_id(), event.TYPE, source, event.subject, sequence, now, attempt, is_last_attempt
        )
        queue = f"{self.service.name}.{event.publisher()}"
        await self.consumers.handle(queue, [(received, msgspec.Raw(msgspec.json.encode(event)))])
        return received

    async def work(self, queue: str, *, attempt: int = 1, is_last_attempt: bool = False) -> int:
        """Process the work items in the outbox for `queue` and those below it (`queue.*`), once each; return their
        number.

        Raises what they raise.
        """
        waiting = await self.fetch(
            "UPDATE outbox SET published_at = now() "
            "WHERE (queue = $1 OR starts_with(queue, $1 || '.')) AND published_at IS NULL "
            "RETURNING position, id, queue, type, source, subject, sequence, payload, created_at",
            queue,
        )
        for row in sorted(waiting, key=lambda row: row["position"]):
            received = Received(
                row["id"],
                row["type"],
                row["source"],
                row["subject"],
                row["sequence"],
                row["created_at"].isoformat(),
                attempt,
                is_last_attempt,
            )
            await self.consumers.handle(row["queue"], [(received, msgspec.Raw(bytes(row["payload"])))])
        return len(waiting)

    async def remove_old(self) -> int:
        """One round of the worker's retention; return the number of purged rows."""
        rules = (*self.runtime.retention_rules, *self.service.retention_rules(self.dependencies))
        return await purge_expired_once(self.runtime.database, rules, self.runtime.clock, pause_seconds=0)

    async def published(self, event_type: str) -> list[dict[str, Any]]:
        """Return the data of the events of this type in the outbox, oldest first."""
        rows = await self.fetch("SELECT payload FROM outbox WHERE type = $1 ORDER BY position", event_type)
        return [msgspec.json.decode(bytes(row["payload"])) for row in rows]

    async def fetch_as_owner(self, statement: str, *values: Any) -> list[Any]:
        """As `fetch`, for what no process of the service may do: a test makes its rows older."""
        async with connected(self.urls.owner) as connection:
            rows: list[Any] = await connection.fetch(statement, *values)
            return rows

    async def fetch(self, statement: str, *values: Any) -> list[Any]:
        """Rows of the service's database, past the row policies."""
        async with self.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            return await uow.fetch(statement, *values)


@asynccontextmanager
async def opened(
    service: Service, urls: DatabaseUrls, broker_url: str, *, clock: Clock | None = None, **settings: Any
) -> AsyncIterator[OpenService]:
    """Yield a service on a migrated database. Nothing runs in the background; keyword arguments replace settings."""
    clock = clock or SystemClock()
    async with issuing(clock) as issuer:
        values = {
            "port": 1,
            "jwks_url": issuer.jwks_url,
            "base_url": BASE_URL,
            "api_database_url": urls.api,
            "service_database_url": urls.service,
            "broker_url": broker_url,
            # The tests' broker has one account for all.
            "broker_verified_publishers": False,
            "cursor_key": CURSOR_KEY,
            "service_role_key": SERVICE_ROLE_KEY,
            **settings,
        }
        configured = service.settings(**values)
        if configured.ladder != RetryLadder():
            await declare_topology(broker_url, declared_topology(configured.ladder))
        async with (
            urls.connections.database(urls) as database,
            running(replace(service, limits=PATIENT), configured, "test", clock, database) as (runtime, dependencies),
        ):
            # Tests deliver one message at a time, which waits for no other.
            consumers = consumers_of(replace(service, linger_seconds=0.0), runtime, dependencies)
            with lent_app(service, configured, runtime, dependencies) as app:
                transport = httpx.ASGITransport(app=PublishedResponses(app), raise_app_exceptions=False)
                async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                    yield OpenService(service, configured, runtime, dependencies, client, issuer, consumers, urls, app)
