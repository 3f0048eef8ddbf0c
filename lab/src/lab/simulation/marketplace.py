"""The marketplace of a simulation: the processes of the crash points, on a double of the broker and the sandbox
inside.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final, Self, cast

import httpx

import common.process.runtime
from campus_tools.launcher import Startup, System
from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers
from common.database.outbox import event_row
from common.messaging.relay import cloud_event
from common.messaging.topology import declared_topology
from common.primitives.clock import ManualClock
from common.primitives.retry import DELAYS_SECONDS, RetryLadder
from contracts.event import Event
from contracts.topology import EVENTS_EXCHANGE
from lab.simulation.shares import RefundsOfItems
from lab.simulation.state_changes import MarketStateChanges
from lab.stepped.marketplace import PROCESSES, SETTINGS, USERS, Marketplace
from lab.stepped.simulated_broker import Broker, SimulatedBus, properties_of
from lab.stepped.simulated_gateway import JWKS_PATH, GatewayConnection, open_sandbox, sandbox_time, serve_mail_of
from lab.stepped.wrappers import observe_connections
from lab.systems import Log
from operations.processes import CAMPUS, SystemPlan
from operations.services import SERVICES
from testkit.service_kit import Issuer

# Identity and notifications move no money: they join with `--everyone`.
USERS_AND_MESSAGES: Final = (*USERS, "identity-worker")
_SERVICES: Final = tuple(service for service in SERVICES if service.name not in ("identity", "notifications"))
# Workers run at least so often: the daily reconciliation compares seven days.
_TIMERS_IDLE_MAX: Final = timedelta(days=5)
_TIMER_RUNS_MAX: Final = 20
# A webhook is processed, and its event is consumed.
_ROUNDS_OF_AN_EARLY_END: Final = 4
# The ladder's own delays pass on the virtual clock.
_SETTINGS: Final = {
    **SETTINGS,
    "RETRY_DELAYS_SECONDS": ",".join(str(delay) for delay in DELAYS_SECONDS),
    # Within the refunds of a run.
    "BALANCE_WITHDRAWAL_TWO_PERSON_MINOR": "300000",
}
_TOPOLOGY: Final = declared_topology(RetryLadder())
_BALANCES: Final = re.compile(r"our ledgers say (-?\d+).*expected: (-?\d+) kobo.*")
# Waits for what another step of the schedule brings: the order's event, and the end of an outage.
_REAL_WAITS: Final = (
    ("payments.use_cases.intents.start_payment", "WAITS_SECONDS", ()),
    ("common.messaging.consumers", "UNAVAILABLE_WAIT_SECONDS", 0.0),
)


class SimulatedMarketplace(Marketplace):
    """Marketplace that advances by its methods only: one relay, some messages, one webhook, one timer."""

    settings: ClassVar[Mapping[str, str]] = _SETTINGS
    broker: Broker
    connection: GatewayConnection
    state_changes: MarketStateChanges

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # Responses that no client may get: status 500.
        self.internal_errors: list[str] = []
        self.refunds_of_items = RefundsOfItems()

    @classmethod
    async def _open(
        cls, stack: AsyncExitStack, folder: Path, servers: Servers, clock: ManualClock, log: Log, further: Sequence[str]
    ) -> Self:
        """Open the system on PostgreSQL, the double of the broker, and the sandbox inside this program."""
        await asyncio.to_thread(servers.postgresql.start)
        services = tuple(SERVICES) if further else _SERVICES
        plan = SystemPlan(services, ())
        system = await stack.enter_async_context(
            System(
                folder, free_port_base(), cls.settings, plan=plan, servers=servers, startup=Startup(with_broker=False)
            )
        )
        issuer = Issuer(clock, f"{system.sandbox_url}{JWKS_PATH}")
        environments = cls.environments(system, servers)
        sandbox = next(plan for plan in CAMPUS.processes if plan.service == "sandbox")
        market = cls(system, issuer, clock, log)
        stack.push_async_callback(market._close)
        market.broker = SimulatedBus.broker = Broker(clock, record=market.refunds_of_items.record)
        market.connection = open_sandbox(
            environments.for_process(sandbox, None) | {"OPENING_BALANCE_MINOR": SETTINGS["OPENING_BALANCE_MINOR"]},
            issuer.jwks(),
        )
        stack.enter_context(sandbox_time(clock))
        if further:
            stack.callback((await serve_mail_of(market.connection)).close)
        await market.sandbox.client.aclose()
        market.sandbox.client = httpx.AsyncClient(base_url=system.sandbox_url, transport=market.connection)
        observe_connections(system.sandbox_url, market.connection)
        common.process.runtime.Bus = SimulatedBus  # type: ignore[attr-defined]
        _wait_for_nothing()
        log("starting the processes")
        await market.open_processes(environments, (*PROCESSES, *further), services)
        await market.sandbox.configure({"charge_fees": "standard", "transfer_fees": "standard"})
        market.connection.end_early = market._end_early
        market.state_changes = await MarketStateChanges.recorded(market.databases)
        return market

    # One move at a time

    def waiting_queues(self) -> list[str]:
        return self.broker.waiting()

    async def deliver(self, queue: str, positions: Sequence[int] = (0,) * 16) -> int:
        """Deliver messages of a queue to its consumer, which handles them together."""
        process = self.consumer_of(queue)
        delivered = await process.run(cast("SimulatedBus", process.bus).deliver(queue, positions))
        await self.revive()
        return delivered or 0

    async def run_timer(self, name: str, timer: str) -> str | None:
        """One round of a timer; the error that it raised, if any."""
        try:
            await self.processes[name].run(self.processes[name].loops[timer].run_once())
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            await self.revive()
        return None

    def timers(self) -> list[tuple[str, str]]:
        """All timers of all workers."""
        return [(name, timer) for name, process in self.processes.items() for timer in process.loops]

    @property
    def has_everyone(self) -> bool:
        """Return whether identity and notifications run too."""
        return "notifications" in self.databases

    async def pass_time(self, time: timedelta) -> list[str]:
        """Time passes, and no timer is idle for longer than `_TIMERS_IDLE_MAX`. Returns the errors that timers raised.

        A timer that failed runs again until the planned faults are used up: days have many of its intervals.
        """
        errors: list[str] = []
        while time > timedelta():
            hop = min(time, _TIMERS_IDLE_MAX)
            time -= hop
            self.clock.advance(hop)
            await self.end_leases()
            for name, timer in self.timers():
                for _ in range(_TIMER_RUNS_MAX):
                    if (error := await self.run_timer(name, timer)) is None:
                        break
                    errors.append(f"{name}: {timer}: {error}")
        return errors

    async def publish(self, publisher: str, event: Event) -> None:
        """Publish an event of a service that does not run here."""
        row = event_row(event, {}, publisher)
        self.broker.publish(_TOPOLOGY, EVENTS_EXCHANGE, row.type, cloud_event(row), properties_of(row, publisher))

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response | None:
        response = await super()._send(method, path, **request)
        if response is not None and response.status_code == 500:
            self.internal_errors.append(f"{method} {path}: {response.text[:200]}")
        return response

    async def findings(self) -> set[str]:
        """Those of a run; the balance at the gateway by its difference, which stays the same in later runs."""
        return {_BALANCES.sub(_difference, finding) for finding in await super().findings()}

    async def _end_early(self, path: str, created: Mapping[str, Any], is_paid: bool) -> None:
        """Let the bank end a refund or a transfer whose call still waits for its response, and deliver what follows.

        Nothing starts again meanwhile, because the process that waits runs on.
        """
        if path == "/gateway/transfer":
            action = f"transfers/{created['reference']}/{'succeed' if is_paid else 'fail'}"
        else:
            action = f"refunds/{created['id']}/{'process' if is_paid else 'fail'}"
        await self.sandbox.client.post(f"/control/{action}", json={})
        for webhook in await self.webhooks.claim_all():
            await self.send_webhook_once(webhook.body)
            # It is processed after its response.
            await self.processes["payments-api"].is_quiet()
        for _ in range(_ROUNDS_OF_AN_EARLY_END):
            for name in self.relays():
                await self.processes[name].relay()
            for queue in self.waiting_queues():
                process = self.consumer_of(queue)
                if not process.is_dead:
                    await process.run(cast("SimulatedBus", process.bus).deliver(queue, (0,)))

    # Everything at once

    async def run_present(self) -> None:
        """Publish, deliver and handle what is due at this instant."""
        await super().run_until_idle()

    async def run_until_idle(self) -> None:
        """Publish, deliver and handle in order until nothing moves; the clock advances to delayed messages."""
        await super().run_until_idle()
        while (delay := self.broker.next_delay()) is not None:
            self.clock.advance(delay)
            await super().run_until_idle()


def _difference(balances: re.Match[str]) -> str:
    ours, theirs = (int(balance) for balance in balances.groups())
    return f"our ledgers have {ours - theirs} kobo more"


def _wait_for_nothing() -> None:
    for module, name, value in _REAL_WAITS:
        setattr(import_module(module), name, value)
