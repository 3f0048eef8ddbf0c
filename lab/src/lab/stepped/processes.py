"""One process of a service inside this program: it starts, takes steps, dies, and starts again."""

import asyncio
import contextvars
import os
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from io import StringIO
from typing import Any, Final, TypeVar, cast
from uuid import UUID

import asyncpg
import uvicorn

from common.messaging.delivery_headers import ATTEMPT_HEADER
from common.messaging.relay import Relay
from common.observability.logging import REQUEST_ID
from common.primitives.clock import ManualClock
from common.primitives.limits import WaitLimits
from common.primitives.retry import DELAYS_SECONDS
from common.process.consuming import consumers_of
from common.process.loops import Loop
from common.process.runtime import Service, running
from common.process.server import QuietServer
from common.process.service import http_app
from common.web.http_protocol import JoinedProtocol
from lab.stepped.effects import CURRENT, EffectLog, ProcessKilled
from lab.stepped.rabbitmq import ARRIVALS, SteppedBus
from operations.processes import ProcessPlan

Result = TypeVar("Result")

# All processes share one event loop, so nothing may be late by itself.
_PATIENT: Final = WaitLimits(*[60.0] * 5)
_STOP_SECONDS_MAX: Final = 20.0
# As many as a batch of the product holds.
_MESSAGES_MAX: Final = 16
_EDGE: Final = "api-gateway"
_CLIENTS: Final = ("aiormq", "aio_pika", "aiohttp")
# These loops run until the process ends; a turn is one round of them.
_SENDERS: Final = {"send-deliveries": "dispatcher", "send-webhooks": "webhook_sender"}


class _Server(QuietServer):
    """A server of this program, which handles the signals itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Process:
    """`api` answers requests; `worker` consumes messages and runs timers. Both publish what they commit."""

    def __init__(
        self, plan: ProcessPlan, environment: Mapping[str, str], clock: ManualClock, effects: EffectLog
    ) -> None:
        self.name, self.service, self.effects = plan.name, plan.service, effects
        self.is_worker = plan.module[-1] == "worker"
        self.is_dead = True
        self.starts = 0
        # Messages of a queue that are handled together.
        self.messages_max = _MESSAGES_MAX
        self.connections: list[asyncpg.Connection] = []
        self.loops: dict[str, Loop] = {}
        self.bus: SteppedBus | None = None
        self.dependencies: Any = None
        self._definition: Service = import_module(f"{plan.module[0]}.app").SERVICE
        self._environment, self._clock = environment, clock
        self._port = int(environment["PORT"])
        self._tasks: dict[asyncio.Task[Any], contextvars.Context] = {}
        self._permanent: set[asyncio.Task[Any]] = set()
        self._life: asyncio.Task[None] | None = None
        self._server: _Server | None = None
        self._runtime: Any = None

    async def start(self) -> None:
        """Start a new instance, and return when it is ready."""
        await self.stop()
        self.is_dead, self.starts, self.connections = False, self.starts + 1, []
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._life = self._create_task(self._live(ready))
        await asyncio.wait([ready, self._life], return_when=asyncio.FIRST_COMPLETED)
        if self._life.done() and not self.is_dead:
            self._life.result()
        self._permanent = set(self._tasks)

    async def stop(self) -> None:
        """Wait for the end of a dead instance; end a living one as a kill does."""
        if self._life is None:
            return
        if not self.is_dead:
            self.die()
        done, _ = await asyncio.wait([self._life], timeout=_STOP_SECONDS_MAX)
        if not done:
            raise TimeoutError(f"{self.name} did not end")
        for queue in self.bus.held_queues if self.bus is not None else ():
            # The broker delivers it again.
            ARRIVALS.expected[queue] += 1
        self._life, self.bus, self._server = None, None, None

    def die(self) -> None:
        """End at once: no statement, no message and no response follows."""
        self.is_dead = True
        for connection in self.connections:
            connection.terminate()
        if self._server is not None:
            for server in getattr(self._server, "servers", ()):
                server.close()
            for protocol in list(self._server.server_state.connections):
                cast("Any", protocol).transport.abort()
        current = asyncio.current_task()
        for task in list(self._tasks):
            if task is not current:
                task.cancel()

    def variable(self, name: str) -> str | None:
        return self._environment.get(name)

    def configure(self, values: Mapping[str, str]) -> None:
        """Give the next instance these variables."""
        self._environment = {**self._environment, **values}

    async def command(self, name: str) -> None:
        """Run a command of the service in this process. Raises RuntimeError when it fails."""
        try:
            with redirect_stdout(StringIO()):
                await self._definition.commands[name](self.dependencies)
        except SystemExit as failed:
            raise RuntimeError(f"{name}: exit code {failed.code}") from failed

    async def run(self, work: Awaitable[Result]) -> Result | None:
        """Run a step in this process; None when it died."""
        task = self._create_task(_as_coroutine(work))
        await asyncio.wait([task])
        try:
            result: Result = task.result()
        except (ProcessKilled, asyncio.CancelledError, Exception):
            if not self.is_dead:
                raise
            return None
        return result

    def end_session(self, session_id: UUID) -> None:
        """Receive the broadcast that a session, or an API key, has ended."""
        self._runtime.verifier.revocations.add(session_id, session_id, self._clock.now())

    async def relay(self) -> None:
        """Publish what this process committed, and what is due in the table."""
        await self.run(Relay(self._runtime.database, self._runtime.bus).run_once())

    async def consume(self, queue: str) -> int:
        """Handle the messages of a queue, several together where the product does so. Returns how many there were."""
        assert self.bus is not None
        one_by_one = queue in self._work_queues
        handled = 0
        while not self.is_dead:
            messages = await self.run(self.bus.receive(queue, 1 if one_by_one else self.messages_max))
            if not messages:
                break
            for message in messages:
                self._clock.advance(_delay_of(message.headers.get(ATTEMPT_HEADER)))
            handler = self.bus.consumers[queue]
            await self.run(_all(handler(message) for message in messages))
            handled += len(messages)
        return handled

    async def run_loop(self, name: str) -> bool:
        """One round of a timer; whether it found work."""
        with suppress(asyncpg.PostgresError):
            return bool(await self.run(self.loops[name].run_once()))
        return False

    async def is_quiet(self, request_id: str = "") -> None:
        """Wait for the end of the tasks that requests started, or that this one did."""
        while pending := {
            task
            for task, context in self._tasks.items()
            if task not in self._permanent
            and not _is_of_a_client(task)
            and (not request_id or context.get(REQUEST_ID) == request_id)
        }:
            await asyncio.wait(pending)

    @property
    def has_waiting_rows(self) -> bool:
        """Return whether rows that this process committed wait for its relay."""
        return not self.is_dead and not self._runtime.database.handover.is_empty

    @property
    def queues(self) -> set[str]:
        """The queues that this process consumes."""
        return set(self.bus.consumers) if self.bus is not None else set()

    @property
    def _work_queues(self) -> set[str]:
        return {item.queue for item in self._definition.work_items}

    async def _live(self, ready: "asyncio.Future[None]") -> None:
        with suppress(asyncio.CancelledError, ProcessKilled):
            async with AsyncExitStack() as stack:
                service = replace(self._definition, compose=self._compose, limits=_PATIENT)
                settings = self._settings()
                runtime, dependencies = await stack.enter_async_context(
                    running(service, settings, self.name, self._clock)
                )
                self._runtime, self.bus, self.dependencies = runtime, cast("SteppedBus", runtime.bus), dependencies
                stack.enter_context(runtime.database.handover.to_relay())
                if self.is_worker:
                    await self._start_consumers(service, runtime, dependencies)
                elif self.service == _EDGE:
                    protocol = import_module("api_gateway.protocol").EdgeProtocol
                    await self._listen(dependencies.edge, protocol)
                else:
                    await self._listen(http_app(service, settings, runtime, dependencies), JoinedProtocol)
                ready.set_result(None)
                await asyncio.Event().wait()

    @property
    def _compose(self) -> Any:
        compose: Any = self._definition.compose
        if self.service == "payments":
            return partial(compose, gateway_connect_seconds_max=60.0)
        if self.service == _EDGE:
            return partial(compose, limits=import_module("api_gateway.limits").EdgeLimits(*[60.0] * 7))
        return compose

    async def _start_consumers(self, service: Service, runtime: Any, dependencies: Any) -> None:
        # One message at a time: none waits for others.
        consumers = consumers_of(replace(service, linger_seconds=0.0), runtime, dependencies)
        asyncio.create_task(consumers.run())  # noqa: RUF006 - tracked by the task factory
        self.loops = {loop.name: _stepped(loop, dependencies) for loop in service.loops(dependencies)}
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _listen(self, app: Any, protocol: type[asyncio.Protocol]) -> None:
        config = uvicorn.Config(
            app,
            host="127.0.0.1",
            port=self._port,
            http=protocol,
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=75,
        )
        self._server = _Server(config)
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.002)
            if serving.done():
                serving.result()

    def _settings(self) -> Any:
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self._environment)
        try:
            return self._definition.settings.from_environment()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def _create_task(self, work: Any) -> "asyncio.Task[Any]":
        context = contextvars.copy_context()
        context.run(CURRENT.set, self)
        return asyncio.get_running_loop().create_task(work, context=context)

    def track(self, task: "asyncio.Task[Any]", context: contextvars.Context) -> None:
        """Remember a task of this process, which dies with it."""
        self._tasks[task] = context
        task.add_done_callback(lambda ended: self._tasks.pop(ended, None))


def track_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Each task of a process belongs to it, as do the tasks that it starts."""

    def create(
        loop: asyncio.AbstractEventLoop, work: Any, *, context: contextvars.Context | None = None
    ) -> "asyncio.Task[Any]":
        context = context or contextvars.copy_context()
        task = asyncio.Task(work, loop=loop, context=context)
        process = context.get(CURRENT)
        if isinstance(process, Process):
            process.track(task, context)
        return task

    loop.set_task_factory(cast("Any", create))


def _stepped(loop: Loop, dependencies: Any) -> Loop:
    """Return the loop, one round of which ends."""
    sender = _SENDERS.get(loop.name)
    return loop if sender is None else replace(loop, run_once=getattr(dependencies, sender).run_once)


def _is_of_a_client(task: "asyncio.Task[Any]") -> bool:
    """Return whether the task serves an open connection of the broker's or the providers' client."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and any(f"/{name}/" in code.co_filename for name in _CLIENTS)


async def _as_coroutine(work: Awaitable[Result]) -> Result:
    return await work


async def _all(handling: Iterator[Awaitable[None]]) -> None:
    await asyncio.gather(*handling)


def _delay_of(attempt: Any) -> timedelta:
    """How long a message waits before this attempt. The broker of a run delays it for a fraction of that."""
    is_retry = isinstance(attempt, int) and attempt > 1
    return timedelta(seconds=DELAYS_SECONDS[min(attempt - 2, len(DELAYS_SECONDS) - 1)] if is_retry else 0)
