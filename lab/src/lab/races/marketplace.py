"""The marketplace in which two actors take turns, each with all messages that follow from its action."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, ClassVar, Final
from uuid import uuid4

import asyncpg
import httpx

from lab.crash_points.instruments import PROVIDER_CALLS
from lab.crash_points.marketplace import PROCESSES, Marketplace
from lab.crash_points.points import Points
from lab.crash_points.stepping import ARRIVALS
from lab.crash_points.users import User
from lab.races.interleaving import Interleaving, Schedule, Turns
from lab.races.together import STEP, Result, run_together
from operations.environment import Environments
from operations.services import Service

# More rounds than the messages of an action need.
_ROUNDS_MAX: Final = 40
_WAITING_FOR_A_LOCK: Final = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event_type = 'Lock'"
_TO_DECIDE: Final = "open: "
_DEADLOCKS: Final = "SELECT sum(deadlocks)::int FROM pg_stat_database"


class RacingMarketplace(Marketplace):
    """Outside `race` it is the marketplace of the crash points."""

    points_type: ClassVar[type[Points]] = Turns
    # Held by a preparation while it changes what all of them share, such as the fault rules of the gateway.
    alone: asyncio.Lock
    _reading: dict[str, asyncio.Lock]
    _watching: asyncpg.Connection
    _known: set[str]
    # The numbers of webhooks that an action delivers.
    _claimed: set[int]
    _calls_seen: int

    async def race(
        self, schedule: Schedule, one: Callable[[], Awaitable[None]], other: Callable[[], Awaitable[None]]
    ) -> Interleaving:
        """Run two actions by the schedule, each with the messages that follow. Raises the first error of an action."""
        assert isinstance(self.points, Turns)
        self._reading = defaultdict(asyncio.Lock)
        interleaving = Interleaving(schedule, self._count_waiting)

        def with_messages(action: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
            async def run() -> None:
                await action()
                await self._follow()

            return run

        self.points.requests.clear()
        self.points.interleaving = interleaving
        try:
            await interleaving.run({"a": with_messages(one), "b": with_messages(other)})
        finally:
            self.points.interleaving = None
        await self.run_until_idle()
        return interleaving

    async def together(self, works: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result]:
        """Run all works to their next `run_until_idle`; then messages move once for all of them."""
        return await run_together(works, super().run_until_idle)

    async def run_until_idle(self) -> None:
        step = STEP.get()
        await (super().run_until_idle() if step is None else step.pause())

    @property
    def is_racing(self) -> bool:
        return isinstance(self.points, Turns) and self.points.interleaving is not None

    async def command(
        self, method: str, path: str, user: User, body: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """One request with a key of its own, repeated when its connection was closed."""
        headers = {"Authorization": f"Bearer {self.issuer.token(user.id, **user.claims)}"}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid4())
        response = await self._send(method, path, headers=headers, json=body or {})
        if response is None:
            response = await self._send(method, path, headers=headers, json=body or {})
        assert response is not None, f"no response to {method} {path}"
        return response

    async def webhook(self, body: bytes) -> httpx.Response:
        """One delivery of a webhook, repeated when its connection was closed."""
        response = await self.send_webhook_once(body) or await self.send_webhook_once(body)
        assert response is not None, "no response to a webhook"
        return response

    async def timer(self, process: str, loop: str) -> None:
        """One round of a timer. Raises its error."""
        running = self.processes[process]
        await running.run(running.loops[loop].run_once())

    async def claim_webhook(self, reference: str) -> bytes:
        """Return the body of the newest webhook about this charge or transfer, which only the caller delivers from now
        on.
        """
        about = [waiting for waiting in await self._webhooks_waiting() if reference.encode() in waiting[1]]
        self._claimed |= {number for number, _ in about}
        return about[-1][1]

    async def _claim_webhooks(self) -> list[bytes]:
        waiting = await self._webhooks_waiting()
        if waiting:
            self._webhooks_delivered = waiting[-1][0]
        return [body for _, body in waiting]

    async def _webhooks_waiting(self) -> Sequence[tuple[int, bytes]]:
        # The gateway creates a webhook only when it is called.
        calls = PROVIDER_CALLS.count
        if calls == self._calls_seen:
            return []
        listed = await super()._webhooks_waiting()
        # The oldest claimed ones are not listed again: the gateway lists a thousand.
        for number, _ in takewhile(lambda webhook: webhook[0] in self._claimed, listed):
            self._webhooks_delivered = max(number, self._webhooks_delivered)
            self._claimed.remove(number)
        done = self._webhooks_delivered
        waiting = [(number, body) for number, body in listed if number > done and number not in self._claimed]
        if not waiting:
            self._calls_seen = calls
        return waiting

    async def new_findings(self) -> set[str]:
        """Violated rules, dead letters and deadlocks since the last call. Exceptions that staff must decide are none."""
        found = {finding for finding in await self.findings() if not finding.startswith(_TO_DECIDE)}
        found |= {f"{await self._watching.fetchval(_DEADLOCKS)} deadlocks"}
        new, self._known = found - self._known, found
        return new

    async def revive(self) -> None:
        """Nothing dies in a race, and another actor's request may be paused."""
        if not self.is_racing:
            await super().revive()

    async def _follow(self) -> None:
        """Publish and deliver until nothing moves any more, except for what the other actor holds."""
        for _ in range(_ROUNDS_MAX):
            unpublished = await asyncio.gather(*map(self._unpublished, self.databases))
            moved = [
                await self._publish(service, count)
                for service, count in zip(self.databases, unpublished, strict=True)
                if count
            ]
            for name in PROCESSES:
                for queue in sorted(self.processes[name].queues & ARRIVALS.queues):
                    ARRIVALS.queues.discard(queue)
                    moved.append(bool(await self.processes[name].consume(queue)))
            moved += [(await self.webhook(body)).status_code == 200 for body in await self._claim_webhooks()]
            if not any(moved):
                return

    async def _publish(self, service: str, before: int) -> bool:
        for process in self.processes.values():
            if process.service == service:
                await process.relay()
        return await self._unpublished(service) < before

    async def _unpublished(self, service: str) -> int:
        if not self.is_racing:
            return await super()._unpublished(service)
        async with self._reading[service]:
            return await super()._unpublished(service)

    async def _count_waiting(self) -> int:
        return int(await self._watching.fetchval(_WAITING_FOR_A_LOCK))

    async def open_processes(
        self, environments: Environments, names: Sequence[str], services: Sequence[Service]
    ) -> None:
        self._watching = await asyncpg.connect(self.secrets["DATABASE_URL"])
        self.alone, self._claimed, self._calls_seen = asyncio.Lock(), set(), -1
        await super().open_processes(environments, names, services)
        await self.run_until_idle()
        await self.time_passes()
        self._known = set()
        await self.new_findings()

    async def _close(self) -> None:
        await super()._close()
        await self._watching.close()

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response | None:
        assert isinstance(self.points, Turns)
        request_id = self.points.new_request_id()
        request["headers"] = {**request["headers"], "X-Request-ID": request_id}
        response = await super()._send(method, path, **request)
        # A webhook is processed after its response.
        for process in self.processes.values():
            await process.is_quiet(request_id)
        return response


def error_of(error: BaseException) -> str:
    """Return an error of an action in one line."""
    state = error.sqlstate if isinstance(error, asyncpg.PostgresError) else ""
    return f"{type(error).__name__} {state}: {error}"[:200]
