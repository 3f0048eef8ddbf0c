"""The sandbox inside the program: its application on the virtual clock, and the connection to it, which can fail.

It is opened by its ASGI interface, with the state that its own start creates; no background worker of it runs.
"""

import asyncio
import contextvars
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, Final, Literal, cast, get_args
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
EarlyEnd = Literal["success", "failure", "success and no response", "failure and no response"]
"""How a refund or a transfer ends, with its webhook, before the response to the call that creates it."""
CreationFault = Literal[CallFault, EarlyEnd]
CREATING: Final = ("POST /gateway/refund", "POST /gateway/transfer")
Call = Literal[
    "POST /gateway/transaction/initialize",
    "GET /gateway/transaction/verify",
    "POST /gateway/refund",
    "GET /gateway/refund",
    "POST /gateway/transfer",
    "GET /gateway/transfer/verify",
    "GET /gateway/dispute",
]
"""An operation of the gateway: the path without the reference or the id."""

_UNANSWERED: Final = ("no response after it was processed", "success and no response", "failure and no response")
# The keys of the tokens come by the same connection, because the virtual clock ends their time in the cache so often.
JWKS_PATH: Final = "/.well-known/jwks.json"
_ERROR: Final = {"status": False, "message": "Internal server error"}


def call_of(request: httpx.Request) -> str:
    """Return the operation that a request calls."""
    *parts, last = request.url.path.split("/")
    is_named = last.isdigit() or parts[-1:] == ["verify"]
    return f"{request.method} {'/'.join(parts if is_named else [*parts, last])}"


class GatewayConnection(httpx.AsyncBaseTransport):
    """Calls the application. A planned fault meets the next call that a process makes."""

    def __init__(self, app: Any, jwks: Mapping[str, Any]) -> None:
        self.world: World = app.state.world
        self._jwks = jwks
        self._transport = httpx.ASGITransport(app=app)
        self.faults: list[CallFault] = []
        # Of the next call of each operation.
        self.faults_by_call: dict[str, CallFault] = {}
        # Of the next calls that create a refund or a transfer.
        self.creation_faults: list[CreationFault] = []
        # Lets the bank end what a response describes, and delivers what follows.
        self.end_early: Callable[[str, Mapping[str, Any], bool], Awaitable[None]] | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == JWKS_PATH:
            return httpx.Response(200, json=self._jwks, request=request)
        call = call_of(request)
        fault = self._fault_of(call) if CURRENT.get() is not None else None
        if fault in get_args(EarlyEnd):
            REACHED.add(f"end: {fault} before the response of {call}")
        elif fault:
            REACHED.add(f"call: {fault} of {call}")
        if fault == "no connection":
            raise httpx.ConnectError("simulated: no connection", request=request)
        if fault == "no response":
            raise httpx.ReadTimeout("simulated: no response", request=request)
        if fault == "an error":
            return httpx.Response(500, json=_ERROR, request=request)
        response = await self._transport.handle_async_request(request)
        if fault in get_args(EarlyEnd):
            await self._end(request.url.path, response, is_paid=str(fault).startswith("success"))
        if fault in _UNANSWERED:
            raise httpx.ReadTimeout("simulated: no response", request=request)
        if fault == "an error after it was processed":
            return httpx.Response(500, json=_ERROR, request=request)
        response.request = request
        await response.aread()
        return response

    def _fault_of(self, call: str) -> CreationFault | None:
        """Return the planned fault of this call, which is used up."""
        if call in self.faults_by_call:
            return self.faults_by_call.pop(call)
        faults: list[Any] = self.creation_faults if self.creation_faults and call in CREATING else self.faults
        return faults.pop(0) if faults else None

    def clear_faults(self) -> None:
        """Forget the planned faults that met no call."""
        self.faults.clear()
        self.faults_by_call.clear()
        self.creation_faults.clear()

    async def _end(self, path: str, response: httpx.Response, *, is_paid: bool) -> None:
        """Run what happens at the bank outside the process that waits for the response."""
        await response.aread()
        if self.end_early is None or not response.is_success:
            return
        context = contextvars.copy_context()
        context.run(CURRENT.set, None)
        ending = self.end_early(path, response.json()["data"], is_paid)
        await asyncio.get_running_loop().create_task(cast("Any", ending), context=context)


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
