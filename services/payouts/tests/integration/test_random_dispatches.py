"""Schedules on the real database, against the sandbox's own ledger: with random sends, losses, repetitions, late calls,
holds and deaths each payout is sent once and none is lost. `SCHEDULES_SEED` repeats a run, `SCHEDULES_EXAMPLES` sets
their number.
"""

import asyncio
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

import httpx
import pytest_asyncio
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import VendorReinstated, VendorSuspended
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from contracts.permissions import permissions_of
from operations.audit.invariants import INVARIANTS
from payouts.domain.dispatch import LEASE, LOST_CALL
from payouts.domain.errors import GatewayUnavailable
from payouts.timers import process_due_transfers_once
from payouts.use_cases.transfers.dispatch_payouts import DispatchOrder, dispatch_payouts

from .conftest import GATEWAY_SECONDS_MAX
from .dispatch_steps import ALONE, Died, LateTransport, MortalDatabase, MortalTransport, gateways_over

Result = TypeVar("Answer")

# Each step is several commits of the real database and calls on a real socket: as many as a run of all tests has time
# for.
EXAMPLES = 5
STEPS = 12
AMOUNT_MINOR = 1_000
FAULTS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"error_after": True, "times": 1},
    {"error_before": True, "times": 1},
    {"fail": "Account number is invalid", "times": 1},
)
_LOST = """
SELECT p.id FROM payout_requests AS p
LEFT JOIN payout_transfers AS t ON t.payout_id = p.id AND t.attempt = p.retry_count + 1
WHERE p.status = 'pending' AND t.status <> 'reserved' AND t.due_at IS NULL
  AND NOT EXISTS (SELECT FROM payout_exceptions AS e WHERE e.payout_id = p.id AND e.status = 'open')
"""
_UNBALANCED = """
SELECT p.id FROM payout_requests AS p WHERE p.status = 'pending' AND p.amount <>
    (SELECT coalesce(-sum(e.amount_minor), 0) FROM ledger_entries AS e WHERE e.account = 'in_transit:' || p.id)
"""


class Schedules(RuleBasedStateMachine):
    """One vendor, three payouts, and every event that may happen to them."""

    scenario: Any
    sandbox: Any
    loop: asyncio.AbstractEventLoop

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run_until_complete(work)

    @initialize()
    def start(self) -> None:
        self.run(self.sandbox.configure(transfer_settlement="manual"))
        self.run(self.sandbox.faults(transfer_call=None, verify_call=None))
        self.vendor = self.run(self.scenario.ready_vendor(100_000))
        self.payouts = [self.run(self.scenario.payout(self.vendor, AMOUNT_MINOR)) for _ in range(3)]
        self.sequence = 10
        self.on_their_way: list[tuple[httpx.Request, datetime]] = []

    def transfers(self) -> dict[str, list[Any]]:
        """Return the sandbox's transfers by payout."""
        rows = self.run(self.scenario.fetch("SELECT reference, payout_id FROM payout_transfers"))
        payout_of = {row["reference"]: str(row["payout_id"]) for row in rows}
        found: dict[str, list[Any]] = {payout_id: [] for payout_id in self.payouts}
        for transfer in self.run(self.sandbox.transfers()):
            if payout_of[transfer["reference"]] in found:
                found[payout_of[transfer["reference"]]].append(transfer)
        return found

    async def _dispatch(self, database: Any, gateways: Any) -> None:
        caller = Caller(user_id=self.scenario.operator_id, permissions=permissions_of(["finance_maker"]))
        order = DispatchOrder(tuple(UUID(payout_id) for payout_id in self.payouts), None, False, ALONE)
        try:
            await dispatch_payouts(database, gateways, self.scenario.clock, caller, uuid4(), order)
        except (Died, GatewayUnavailable):
            # The balance query timed out, and nothing has started: staff dispatch again.
            return

    @rule(fault=st.sampled_from(FAULTS), commits=st.integers(0, 14))
    def staff_dispatch_and_the_process_dies_between_two_commits(self, fault: Any, commits: int) -> None:
        self.run(self.sandbox.faults(transfer_call=fault))
        dependencies = self.scenario.dependencies
        self.run(self._dispatch(MortalDatabase(dependencies.database, commits), dependencies.gateways))

    @rule(fault=st.sampled_from(FAULTS), calls=st.integers(0, 7), after=st.booleans())
    def staff_dispatch_and_the_process_dies_around_a_call(self, fault: Any, calls: int, after: bool) -> None:
        async def dispatch() -> None:
            async with httpx.AsyncHTTPTransport() as inner:
                gateways = gateways_over(self.scenario, MortalTransport(inner, calls, after=after))
                await self._dispatch(self.scenario.dependencies.database, gateways)

        self.run(self.sandbox.faults(transfer_call=fault))
        self.run(dispatch())

    @rule()
    def staff_dispatch_and_the_first_call_is_late(self) -> None:
        async def dispatch() -> None:
            async with httpx.AsyncHTTPTransport() as inner:
                late, called_at = LateTransport(inner), self.scenario.clock.now()
                await self._dispatch(self.scenario.app.dependencies.database, gateways_over(self.scenario, late))
                if late.kept is not None:
                    self.on_their_way.append((late.kept, called_at))

        self.run(self.sandbox.faults(transfer_call=None))
        self.run(dispatch())

    @rule()
    def a_late_call_arrives(self) -> None:
        """Let the gateway receive it, unless that is out of bounds."""

        async def arrive(request: httpx.Request) -> None:
            async with httpx.AsyncHTTPTransport() as transport:
                await (await transport.handle_async_request(request)).aread()

        self.run(self.sandbox.faults(transfer_call=None))
        for request, called_at in self.on_their_way[:1]:
            self.on_their_way.remove((request, called_at))
            if self.scenario.clock.now() < called_at + LOST_CALL:
                self.run(arrive(request))

    @rule()
    def two_dispatch_at_once(self) -> None:
        async def both() -> None:
            dependencies = self.scenario.dependencies
            await asyncio.gather(*(self._dispatch(dependencies.database, dependencies.gateways) for _ in range(2)))

        self.run(self.sandbox.faults(transfer_call=None))
        self.run(both())

    @rule(wait=st.sampled_from([timedelta(0), timedelta(seconds=20), LEASE + timedelta(seconds=1), timedelta(hours=1)]))
    def the_worker_works(self, wait: timedelta) -> None:
        async def work() -> None:
            dependencies = self.scenario.dependencies
            await self.scenario.work("payouts.transfers")
            await process_due_transfers_once(dependencies.database, dependencies.gateways, self.scenario.clock)

        self.scenario.clock.advance(wait)
        self.run(work())

    @rule(
        draw=st.randoms(use_true_random=False),
        ends=st.sampled_from(["succeed", "fail", "reverse"]),
        reported=st.booleans(),
    )
    def the_bank_decides(self, draw: random.Random, ends: str, reported: bool) -> None:
        before = "success" if ends == "reverse" else "pending"
        lines = [line for found in self.transfers().values() for line in found if line["status"] == before]
        if not lines:
            return
        transfer = draw.choice(lines)
        self.run(self.sandbox.settle_transfer(transfer["reference"], ends))
        if reported or ends == "reverse":
            event = {"succeed": TransferSucceeded, "fail": TransferFailed, "reverse": TransferReversed}[ends]
            self.receive(event, transfer["reference"])

    def receive(self, event: Any, reference: str) -> None:
        status = {TransferSucceeded: "success", TransferFailed: "failed", TransferReversed: "reversed"}[event]
        update = event(
            reference=reference, transfer_code="TRF_1", amount_minor=AMOUNT_MINOR, currency="NGN", status=status,
            gateway_event_id=str(new_id()), occurred_at="2026-01-01T00:00:00.000Z", reason=None,
        )  # fmt: skip
        for _ in range(2):
            self.run(self.scenario.receive(update))

    @rule(suspended=st.booleans())
    def the_vendor_is_suspended_or_reinstated(self, suspended: bool) -> None:
        self.sequence += 1
        values = {
            "vendor_id": self.vendor.id, "owner_user_id": self.vendor.owner, "business_name": "A shop",
            "legal_name": self.vendor.legal_name, "campus_id": new_id(),
        }  # fmt: skip
        event = VendorSuspended(**values, reason="Complaints") if suspended else VendorReinstated(**values)
        self.run(self.scenario.receive(event, sequence=self.sequence))

    @rule(number=st.integers(0, 2))
    def an_operator_resets(self, number: int) -> None:
        headers = self.scenario.headers(self.scenario.operator_id, roles=("ops_oncall",), stepped_up=True)
        path = f"/api/payouts/{self.payouts[number]}/reset"
        response = self.run(self.scenario.client.post(path, json={"reason": "Try again"}, headers=headers))
        assert response.status_code in (200, 409), response.text

    @rule(number=st.integers(0, 2))
    def two_operators_reconcile(self, number: int) -> None:
        self.reconcile(self.payouts[number])

    def reconcile(self, payout_id: str) -> None:
        """Restitution or reversal, whichever is needed; 409 when none is."""
        service = self.scenario.app
        maker = service.headers(new_id(), roles=("finance_maker",), stepped_up=True)
        checker = service.headers(new_id(), roles=("finance_checker",), stepped_up=True)
        body = {"reason": "The bank says so"}
        prepared = self.run(service.client.post(f"/api/payouts/{payout_id}/reconciliations", json=body, headers=maker))
        assert prepared.status_code in (201, 409), prepared.text
        if prepared.status_code == 201:
            reconciliation = prepared.json()["data"]
            path, body = f"/api/reconciliations/{reconciliation['id']}/approve", {"hash": reconciliation["hash"]}
            approved = self.run(service.client.post(path, json=body, headers=checker))
            assert approved.status_code == 200, approved.text

    @invariant()
    def each_is_sent_once_and_none_is_lost(self) -> None:
        if not hasattr(self, "sequence"):
            return
        for payout_id, found in self.transfers().items():
            assert Counter(line["status"] in ("pending", "success") for line in found)[True] <= 1, payout_id
        assert self.run(self.scenario.fetch(_LOST)) == []
        assert self.run(self.scenario.fetch(_UNBALANCED)) == []

    def teardown(self) -> None:
        """Let gateway, bank and worker finish: nothing stays open, and the audit's invariants hold."""
        self.run(self.sandbox.faults(transfer_call=None))
        self.the_vendor_is_suspended_or_reinstated(False)
        for _ in range(3):
            for found in self.transfers().values():
                for line in found:
                    if line["status"] == "pending":
                        self.run(self.sandbox.settle_transfer(line["reference"], "succeed"))
            self.two_dispatch_at_once()
            self.the_worker_works(timedelta(hours=2))
        for payout_id, found in self.transfers().items():
            if self.run(self.scenario.read_payout(payout_id))["openException"] is not None:
                self.reconcile(payout_id)
            payout = self.run(self.scenario.read_payout(payout_id))
            left = [line for line in found if line["status"] == "success"]
            assert payout["transfer"]["status"] not in ("submitting", "unknown"), payout
            came_back = any(line["status"] == "reversed" for line in found)
            assert len(left) == (payout["status"] == "processed" and not came_back), payout
            assert (payout["status"], payout["openException"]) in (("processed", None), ("failed", None)), payout
        for promised in (line for line in INVARIANTS if line.service == "payouts"):
            assert self.run(self.scenario.fetch(promised.offending)) == [], promised.rule


@pytest_asyncio.fixture(loop_scope="session")
async def shared_scenario(scenario: Any, sandbox: Any) -> tuple[Any, Any, asyncio.AbstractEventLoop]:
    return scenario, sandbox, asyncio.get_running_loop()


def test_every_schedule_sends_each_payout_once(shared_scenario: tuple[Any, Any, asyncio.AbstractEventLoop]) -> None:
    number = int(os.environ.get("SCHEDULES_SEED") or random.randrange(2**32))
    sys.stdout.write(f"SCHEDULES_SEED={number}\n")
    scenario, sandbox, loop = shared_scenario
    run_state_machine_as_test(
        seed(number)(type("Schedules", (Schedules,), {"scenario": scenario, "sandbox": sandbox, "loop": loop})),
        settings=settings(
            max_examples=int(os.environ.get("SCHEDULES_EXAMPLES") or EXAMPLES),
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            # A schedule lasts a second: the seed repeats a failed one, and none is shrunk.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


async def test_many_payouts_through_a_failing_gateway_are_each_sent_once(
    scenario: Any, sandbox: Any, limit_gateway_timeout: Callable[[float], None]
) -> None:
    """A small `make payout-soak`: 5 % of the calls get no response, 2 % an error after acceptance."""
    await sandbox.configure(transfer_settlement="immediate")
    vendor = await scenario.ready_vendor(1_000_000)
    amounts = [AMOUNT_MINOR + number for number in range(40)]
    payouts = [await scenario.payout(vendor, amount) for amount in amounts]
    broken = [{"match": amount, "times": 1, "timeout": True} for amount in (amounts[3], amounts[30])]
    await sandbox.faults(transfer_call=[*broken, {"match": amounts[17], "times": 1, "error_after": True}])
    limit_gateway_timeout(5)
    response = (await scenario.dispatch(uuid4())).json()["data"]
    limit_gateway_timeout(GATEWAY_SECONDS_MAX)
    assert sorted(line["payoutId"] for line in response["transfers"]) == sorted(payouts)
    assert Counter(line["status"] for line in response["transfers"]) == {"success": 37, "unknown": 3}
    assert (response["queued"], response["remaining"]) == (0, 0)
    assert await scenario.work("payouts.transfers") == 3
    states = await scenario.fetch("SELECT DISTINCT status FROM payout_requests")
    assert [row["status"] for row in states] == ["processed"]
    transfers = (await sandbox.client.get("/gateway/transfer", params={"perPage": 100})).json()["data"]
    assert sorted(line["amount"] for line in transfers) == amounts
    for promised in (line for line in INVARIANTS if line.service == "payouts"):
        assert await scenario.fetch(promised.offending) == [], promised.rule
