"""The sandbox inside the program: its application on the virtual clock, and the connection to it, which can fail.

It is opened by its ASGI interface, with the state that its own start creates; no background worker of it runs.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, Final, Literal
from unittest.mock import patch

import httpx

from common.primitives.clock import ManualClock
from lab.stepped.effects import CURRENT
from lab.stepped.reached import REACHED
from sandbox.app import create_app
from sandbox.database import Database
from sandbox.gateway.banks import seed_demo_accounts
from sandbox.settings import read_settings
from sandbox.sinks.mail import serve_mail
from sandbox.world import World, build_world

CallFault = Literal[
    "no connection", "no response", "an error", "no response after it was processed", "an error after it was processed"
]
"""How a call ends: before it was sent, before the gateway processed it, or after that."""

# The keys of the tokens come by the same connection, because the virtual clock ends their time in the cache so often.
JWKS_PATH: Final = "/.well-known/jwks.json"
_ERROR: Final = {"status": False, "message": "Internal server error"}


class GatewayConnection(httpx.AsyncBaseTransport):
    """Calls the application. A planned fault meets the next call that a process makes."""

    def __init__(self, app: Any, jwks: Mapping[str, Any]) -> None:
        self.world: World = app.state.world
        self._jwks = jwks
        self._transport = httpx.ASGITransport(app=app)
        self.faults: list[CallFault] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == JWKS_PATH:
            return httpx.Response(200, json=self._jwks, request=request)
        fault = self.faults.pop(0) if self.faults and CURRENT.get() is not None else None
        if fault:
            path = "/".join(request.url.path.split("/")[:4]) if "verify" in request.url.path else request.url.path
            REACHED.add(f"call: {fault} of {request.method} {path}")
        if fault == "no connection":
            raise httpx.ConnectError("simulated: no connection", request=request)
        if fault == "no response":
            raise httpx.ReadTimeout("simulated: no response", request=request)
        if fault == "an error":
            return httpx.Response(500, json=_ERROR, request=request)
        response = await self._transport.handle_async_request(request)
        if fault == "no response after it was processed":
            raise httpx.ReadTimeout("simulated: no response", request=request)
        if fault == "an error after it was processed":
            return httpx.Response(500, json=_ERROR, request=request)
        response.request = request
        await response.aread()
        return response


def open_sandbox(environment: Mapping[str, str], jwks: Mapping[str, Any]) -> GatewayConnection:
    """Return the application with a new database in its `STATE_DIR`."""
    settings = read_settings(environment)
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    database = Database(settings.state_dir / "sandbox.db", settings.opening_balance_minor)
    seed_demo_accounts(database)
    app = create_app(settings)
    app.state.world = build_world(settings, database)
    return GatewayConnection(app, jwks)


async def serve_mail_of(connection: GatewayConnection) -> asyncio.Server:
    """Receive the mails of the sandbox by SMTP: the protocol of the only provider that is not reached by HTTP."""
    return await serve_mail(connection.world)


@contextmanager
def sandbox_time(clock: ManualClock) -> Iterator[None]:
    """Yield the sandbox, which reads the time by the module `time`, follows this clock until the end."""
    virtual = SimpleNamespace(time=lambda: clock.now().timestamp(), monotonic=time.monotonic)
    with ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name.startswith("sandbox.") and getattr(module, "time", None) is time:
                stack.enter_context(patch.object(module, "time", virtual))
        yield
