"""The service under test signs its own tokens, serves its keys on a socket, and verifies tokens against those."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pyotp
import pytest
import pytest_asyncio
from argon2 import PasswordHasher
from starlette.types import Receive, Scope, Send

from common.primitives.clock import ManualClock
from contracts import demo
from identity.app import SERVICE, compose
from identity.use_cases.accounts.load_demo import load_demo
from testkit.fixtures import DatabaseFactory
from testkit.responses import data_of
from testkit.service_kit import opened, served
from testkit.world import World

PASSWORD = "correct horse battery"
SERVICE_ROLE_KEY = "a-service-role-key-for-tests"
PREVIOUS_SERVICE_ROLE_KEY = "the-service-role-key-before-it"
CREDENTIALS_KEY = "a key of credentials for tests"
CODE_DELIVERY_KEY = "a key of codes for tests"
DEMO_PASSWORD = "a demo password"
DEMO_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
DEMO_SECRETS = {user.name: DEMO_SECRET for user in demo.USERS if user.name not in ("BUYER", "BUYER2", "PACKER")}
# A password costs 30 ms as shipped. `test_the_service_hashes_at_its_full_cost` opens the service as it is.
QUICK_SERVICE = replace(
    SERVICE, compose=partial(compose, hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
)
USERS = {user.name: user for user in demo.USERS}


class _Address:
    """An address that exists before its application."""

    app: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


@dataclass
class IdentityApp(World):
    """The open service with what a client of it does."""

    jwks_url: str

    async def post(
        self, path: str, body: Any = None, *, token: str | None = None, source: str | None = None
    ) -> httpx.Response:
        """`source` is the client's address, as the gateway names it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"X-Client-Address": source} if source else {}
        return await self.client.post(path, json={} if body is None else body, headers=headers)

    async def get(self, path: str, *, token: str | None = None, **params: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.client.get(path, params=params, headers=headers)

    async def sign_up(self, email: str, *, number_proven: bool = False, **more: Any) -> UUID:
        """Signs up a user with a confirmed address, without the remaining rows of the confirmation."""
        user_id = await self.sign_up_unproven(email, **more)
        await self.fetch("UPDATE profiles SET confirmed_email = email WHERE id = $1", user_id)
        if number_proven:
            await self.fetch("UPDATE profiles SET confirmed_phone = phone WHERE id = $1", user_id)
        for statement in (
            "DELETE FROM issued_codes", "DELETE FROM message_counts", "DELETE FROM sign_up_passwords",
            "DELETE FROM outbox WHERE queue = 'identity.codes'",
        ):  # fmt: skip
            await self.fetch(statement)
        return user_id

    async def sign_up_unproven(self, email: str, **more: Any) -> UUID:
        """Signs up a user whose address is not confirmed."""
        body = {"email": email, "password": PASSWORD, "fullName": "Test Person", **more}
        return UUID(data_of(await self.post("/api/auth/signup", body), 201)["userId"])

    async def log_in(self, email: str, password: str = PASSWORD) -> dict[str, Any]:
        return data_of(await self.post("/api/auth/login", {"email": email, "password": password}))

    async def demo_log_in(self, name: str) -> dict[str, Any]:
        return await self.log_in(USERS[name].email, DEMO_PASSWORD)

    async def step_up(self, tokens: dict[str, Any], secret: str) -> dict[str, Any]:
        body = {"code": self.code(secret)}
        return data_of(await self.post("/api/auth/mfa/verify", body, token=tokens["accessToken"]))

    def code(self, secret: str) -> str:
        """Return the code of this moment."""
        return pyotp.TOTP(secret).at(self.clock.now())

    def next_period(self) -> None:
        """Return the next code of every authenticator."""
        self.clock.advance(timedelta(seconds=30))

    async def load_demo(self) -> None:
        dependencies = self.dependencies
        await load_demo(
            dependencies.database, dependencies.passwords, dependencies.totp, dependencies.demo, now=self.clock.now()
        )

    async def count(self, table: str) -> int:
        rows = await self.fetch(f"SELECT count(*) AS n FROM {table}")
        return int(rows[0]["n"])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 9, 1, 8, tzinfo=UTC))


@pytest.fixture
def more_settings() -> dict[str, Any]:
    """Return the settings of the service; a test names its own by `parametrize`."""
    return {}


@pytest_asyncio.fixture
async def app(
    fresh_database: DatabaseFactory, broker_url: str, clock: ManualClock, more_settings: dict[str, Any]
) -> AsyncIterator[IdentityApp]:
    """Yield the identity service on a database of its own; it fetches its keys from its own served address."""
    urls = await fresh_database("identity")
    address = _Address()
    totp = {f"demo_totp_{name.lower()}": secret for name, secret in DEMO_SECRETS.items()}
    async with served(address) as base:
        jwks_url = f"{base}/.well-known/jwks.json"
        async with opened(
            QUICK_SERVICE,
            urls,
            broker_url,
            clock=clock,
            jwks_url=jwks_url,
            credentials_key=CREDENTIALS_KEY,
            code_delivery_key=CODE_DELIVERY_KEY,
            service_role_key=SERVICE_ROLE_KEY,
            service_role_key_previous=PREVIOUS_SERVICE_ROLE_KEY,
            demo_password=DEMO_PASSWORD,
            **totp,
            **more_settings,
        ) as service:
            address.app = service.app
            yield IdentityApp(service, clock, jwks_url)
