"""The marketplace in which actors take turns, each with all messages that follow from its action."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Final
from uuid import uuid4

import asyncpg
import httpx

from common.primitives.tls import client_tls
from lab.histories.checking import check_file
from lab.histories.recording import History, RecordingClient
from lab.histories.verdict import record_final_reads
from lab.stepped.actors import User
from lab.stepped.concurrent_steps import STEP, Result, run_concurrently
from lab.stepped.effects import EffectLog
from lab.stepped.marketplace import Marketplace
from lab.stepped.rabbitmq import ARRIVALS
from lab.stepped.scheduler import Actor, Interleaving, Schedule, Scheduler
from operations.environment import Environments
from operations.services import Service

# More rounds than the messages of an action need.
_ROUNDS_MAX: Final = 40
_WAITING_FOR_A_LOCK: Final = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event_type = 'Lock'"
_TO_DECIDE: Final = "open: "
_DEADLOCKS: Final = "SELECT sum(deadlocks)::int FROM pg_stat_database"


class RacingMarketplace(Marketplace):
    """Outside `race` it is the marketplace of the crash points."""

    effects_type: ClassVar[type[EffectLog]] = Scheduler
    # Held by a preparation while it changes what all of them share, such as the fault rules of the gateway.
    alone: asyncio.Lock
    _watching: asyncpg.Connection
    _known: set[str]

    async def anomalies(self) -> list[str]:
        """Return what no order of events explains in the history of all races so far."""
        assert isinstance(self.http, RecordingClient)

        async def rows(service: str, statement: str) -> list[asyncpg.Record]:
            return list(await self.databases[service].fetch(statement))

        await record_final_reads(self.http.history, rows, None)
        self.log(f"history: {self.http.history.path}")
        return check_file(self.http.history.path)

    async def race(self, schedule: Schedule, actions: Mapping[Actor, Callable[[], Awaitable[None]]]) -> Interleaving:
        """Run the actions by the schedule, each with the messages that follow. Raises the first error of an action."""
        assert isinstance(self.effects, Scheduler)

        def with_messages(action: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
            async def run() -> None:
                await action()
                await self._follow()

            return run

        interleaving = Interleaving(schedule, self._count_waiting)
        self.effects.requests.clear()
        self.effects.interleaving = interleaving
        try:
            await interleaving.run({actor: with_messages(action) for actor, action in actions.items()})
        finally:
            self.effects.interleaving = None
        await self.run_until_idle()
        return interleaving

    async def run_concurrently(self, works: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result]:
        """Run all works to their next `run_until_idle`; then messages move once for all of them."""
        return await run_concurrently(works, super().run_until_idle)

    async def run_until_idle(self) -> None:
        step = STEP.get()
        await (super().run_until_idle() if step is None else step.pause())

    @property
    def is_racing(self) -> bool:
        return isinstance(self.effects, Scheduler) and self.effects.interleaving is not None

    async def send(self, method: str, path: str, user: User, body: Mapping[str, Any] | None = None) -> httpx.Response:
        """One request with a key of its own, repeated when its connection was closed, or the service was busy (503)."""
        headers = {"Authorization": f"Bearer {self.issuer.token(user.id, **user.claims)}"}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid4())
        response = await self._send(method, path, headers=headers, json=body or {})
        if response is None or response.status_code == 503:
            response = await self._send(method, path, headers=headers, json=body or {})
        assert response is not None, f"no response to {method} {path}"
        return response

    async def send_webhook_now(self, body: bytes) -> httpx.Response:
        """One delivery of a webhook, repeated when its connection was closed, or the service was busy (503)."""
        response = await self.send_webhook_once(body)
        if response is None or response.status_code == 503:
            response = await self.send_webhook_once(body)
        assert response is not None, "no response to a webhook"
        return response

    async def timer(self, process: str, loop: str) -> None:
        """One round of a timer. Raises its error."""
        running = self.processes[process]
        await running.run(running.loops[loop].run_once())

    async def new_findings(self) -> set[str]:
        """Return violated rules, dead letters and deadlocks since the last call; exceptions for staff are none."""
        found = {finding for finding in await self.findings() if not finding.startswith(_TO_DECIDE)}
        found |= {f"{await self._watching.fetchval(_DEADLOCKS)} deadlocks"}
        new, self._known = found - self._known, found
        return new

    async def revive(self) -> None:
        """Ignore crashes: none happens in a race, and another actor's request may be paused."""
        if not self.is_racing:
            await super().revive()

    async def _follow(self) -> None:
        """Publish and deliver until nothing moves any more, except for what another actor holds."""
        for _ in range(_ROUNDS_MAX):
            moved = [await self.relay(name) for name in self.relays()]
            for queue in sorted(self._consumed_queues() & ARRIVALS.queues):
                ARRIVALS.queues.discard(queue)
                moved.append(bool(await self.consumer_of(queue).consume(queue)))
            webhooks = await self.webhooks.claim_all()
            moved += [(await self.send_webhook_now(webhook.body)).status_code == 200 for webhook in webhooks]
            if not any(moved):
                return

    async def _count_waiting(self) -> int:
        return int(await self._watching.fetchval(_WAITING_FOR_A_LOCK))

    async def open_processes(
        self, environments: Environments, names: Sequence[str], services: Sequence[Service]
    ) -> None:
        self._watching = await asyncpg.connect(self.secrets["DATABASE_URL"])
        self.alone = asyncio.Lock()
        await super().open_processes(environments, names, services)
        base_url = self.http.base_url
        await self.http.aclose()
        self.http = RecordingClient(
            History.new("races"), base_url=base_url, timeout=60, trust_env=False, verify=client_tls()
        )
        await self.run_until_idle()
        await self.time_passes()
        self._known = set()
        await self.new_findings()

    async def _close(self) -> None:
        await super()._close()
        await self._watching.close()

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response | None:
        assert isinstance(self.effects, Scheduler)
        request_id = self.effects.new_request_id()
        request["headers"] = {**request["headers"], "X-Request-ID": request_id}
        response = await super()._send(method, path, **request)
        # A webhook is processed after its response.
        for process in self.processes.values():
            await process.is_quiet(request_id)
        return response
