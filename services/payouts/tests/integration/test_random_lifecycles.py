"""Random walks over the lifecycles of payouts, transfers, holds, exceptions and reconciliations, through the real use
cases: each result is the one that a rule gives, and the database refuses every other change of state.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from common.primitives.decisions import DECISION
from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from operations.audit.invariants import INVARIANTS
from payouts.domain.payout_transitions import EXCEPTION, HOLD, PAYOUT
from payouts.domain.transfer_updates import TransferUpdate, evaluate_update, has_effect
from payouts.domain.transitions import REPORTS, STATES, TRANSFER
from payouts.store import transfers
from payouts.use_cases.transfers.record_transfer_update import record_transfer_update
from testkit.sandbox import Sandbox
from testkit.state_changes import StateChanges
from testkit.walks import SEEDS, walk

from .conftest import Scenario
from .staff import AMOUNT, Case, Staff
from .steps import FINDING, act_on_exception

# A transfer's row has the gateway's last response, also one that contradicts an earlier response (decision 114).
ROW = Lifecycle[Any, Any](
    "Row of a transfer",
    TRANSFER.meaning,
    STATES,
    {
        **TRANSFER.rules,
        **{f"responded:{report}": Rule(dict.fromkeys(STATES, report), by="payment gateway") for report in REPORTS},
    },
)
LIFECYCLES: dict[str, Lifecycle[Any, Any]] = {
    "payout_requests": PAYOUT,
    "payout_transfers": ROW,
    "payout_exceptions": EXCEPTION,
    "transfer_holds": HOLD,
    "reconciliations": DECISION,
}
WALKS, LENGTH = 8, 25
# Webhooks of these walks report what the gateway denies when it is queried.
OF_ONE_ACCOUNT = "each paid transfer is posted once, and a returned one is not"
PICKED, EITHER = range(3), (True, False)
FAULTS = (None, None, None, "error_after", "error_before", "fail")
STEPS = [
    *[("dispatch", FAULTS)] * 3,
    *[("work", (0, 0, 2, 24))] * 3,
    *[("settle", PICKED, ("succeed", "succeed", "fail", "reverse"))] * 3,
    *[("report", PICKED, (*REPORTS, "success", "failed", "reversed"), (AMOUNT, AMOUNT, 1))] * 3,
    ("reset",),
    ("cancel",),
    ("prepare",),
    *[("reconcile",)] * 2,
    *[("decide", PICKED, EITHER)] * 3,
    ("act", PICKED, ("classify", "close", "query")),
]


class PayoutWalker:
    """One payout, its attempts and what staff decide about it. Each step happens at any time."""

    def __init__(self, staff: Staff, changes: StateChanges, case: Case) -> None:
        self.staff, self.changes, self.case, self.scenario = staff, changes, case, staff.scenario

    async def run_step(self, name: str, *arguments: Any) -> None:
        before = await self.status()
        expected = await getattr(self, name)(*arguments)
        after = await self.status()
        assert after == before or PAYOUT.transitions >= {(before, after)}
        assert expected in (None, after)
        assert await self.changes.forbidden() == []

    async def status(self) -> str:
        return str((await self.staff.payout(self.case))["status"])

    async def rows(self, table: str) -> list[Any]:
        return await self.scenario.fetch(
            f"SELECT * FROM {table} WHERE payout_id = $1::uuid ORDER BY id", self.case.payout_id
        )

    async def dispatch(self, fault: str | None) -> None:
        await self.staff.sandbox.faults(
            transfer_call=fault and {"times": 1, fault: "Account number is invalid" if fault == "fail" else True}
        )
        response = await self.scenario.dispatch(uuid4(), payoutIds=[self.case.payout_id])
        assert response.status_code == 200, response.text
        await self.staff.sandbox.faults(transfer_call=None)

    async def work(self, hours: int) -> None:
        self.scenario.clock.advance(timedelta(hours=hours))
        await self.staff.process_queued_transfers()
        await self.staff.run_timers()

    async def settle(self, picked: int, end: str) -> None:
        """Decide at the bank; the gateway refuses an end that its transfer cannot have."""
        sent = await self.staff.sent(self.case)
        if sent:
            path = f"/control/transfers/{sent[picked % len(sent)]}/{end}"
            assert (await self.staff.sandbox.client.post(path, json={})).status_code in (200, 409)

    async def report(self, picked: int, status: Any, amount_minor: int) -> str | None:
        """Receive a webhook, also of what the gateway denies; return `processed` after an effective success."""
        sent = [row for row in await self.rows("payout_transfers") if row["submissions"]]
        if not sent:
            return None
        reference = sent[picked % len(sent)]["reference"]
        update = TransferUpdate("webhook", status, amount_minor, "NGN", reason="Bank switch is down")
        async with self.scenario.unit_of_work() as uow:
            locked = await transfers.lock_transfer(uow, reference)
            assert locked is not None
            verdict = evaluate_update(locked, update)
            await record_transfer_update(uow, reference, update, self.scenario.clock.now())
        async with self.scenario.unit_of_work() as uow:
            after = await transfers.lock_transfer(uow, reference)
        assert after is not None
        is_new = verdict in ("advanced", "confirmed")
        assert after.effective_status == (status if is_new else locked.effective_status)
        return "processed" if has_effect(verdict) and status == "success" else None

    async def reset(self) -> None:
        attempts = len(await self.rows("payout_transfers"))
        response = await self.staff.reset(self.case)
        assert response.status_code in (200, 409), response.text
        assert len(await self.rows("payout_transfers")) == attempts + response.is_success

    async def cancel(self) -> str | None:
        headers = self.scenario.headers(self.case.vendor.owner, **self.case.vendor.claims())
        response = await self.scenario.client.post(f"/api/payouts/{self.case.payout_id}/cancel", headers=headers)
        assert response.status_code in (200, 409), response.text
        return "failed" if response.is_success else None

    async def prepare(self) -> None:
        is_waiting = any(row["status"] == "prepared" for row in await self.rows("reconciliations"))
        response = await self.staff.prepare(self.case)
        assert response.status_code == 409 or (response.status_code == 201 and not is_waiting), response.text

    async def decide(self, picked: int, approves: bool) -> None:
        prepared = await self.rows("reconciliations")
        if not prepared:
            return
        one = prepared[picked % len(prepared)]
        decided = DECISION.next_state(one["status"], "approved" if approves else "rejected")
        if approves:
            shown = await self.staff.get(f"/api/reconciliations/{one['id']}")
            response = await self.staff.approve(shown.json()["data"])
        else:
            path, body = f"/api/reconciliations/{one['id']}/reject", {"reason": "Say more"}
            response = await self.staff.post(path, self.staff.checker, "finance_checker", body)
        # What was prepared may be stale.
        assert response.status_code == 409 or decided is not Rejection.FORBIDDEN, response.text
        [after] = await self.scenario.fetch("SELECT status FROM reconciliations WHERE id = $1", one["id"])
        is_made = response.is_success and not isinstance(decided, Rejection)
        assert after["status"] == (decided if is_made else one["status"])

    async def reconcile(self) -> None:
        """Prepare, and approve what was prepared last."""
        await self.prepare()
        await self.decide(-1, approves=True)

    async def act(self, picked: int, verb: str) -> None:
        exceptions = await self.rows("payout_exceptions")
        if not exceptions:
            return
        one = exceptions[picked % len(exceptions)]
        body: dict[str, Any] = {"classify": FINDING, "close": {"evidence": "the bank's letter"}, "query": {}}[verb]
        response = await act_on_exception(self.scenario, one["id"], verb, **body)
        assert response.status_code in (200, 202, 409), response.text
        [after] = await self.scenario.fetch("SELECT status FROM payout_exceptions WHERE id = $1", one["id"])
        if verb == "close" and response.is_success:
            assert after["status"] == "closed"
        # A confirmed success closes it, too.
        assert after["status"] == one["status"] or (verb != "classify" and one["status"] == "open")


@pytest_asyncio.fixture(loop_scope="session")
async def changes(scenario: Scenario) -> AsyncIterator[StateChanges]:
    async with scenario.connected() as owner:
        changes = await StateChanges.recorded(owner, LIFECYCLES)
        await changes.refuse_others(*LIFECYCLES)
        yield changes


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_payout_follows_its_lifecycles(
    seed: int, scenario: Scenario, sandbox: Sandbox, changes: StateChanges
) -> None:
    async def start() -> PayoutWalker:
        vendor = await scenario.ready_vendor(AMOUNT)
        return PayoutWalker(Staff(scenario, sandbox), changes, Case(vendor, await scenario.payout(vendor, AMOUNT), ""))

    await walk(start, STEPS, seed, walks=WALKS, length=LENGTH)
    assert changes.walked[PAYOUT] == PAYOUT.transitions
    assert changes.walked[EXCEPTION] == EXCEPTION.transitions
    assert len(changes.walked[ROW]) >= 7
    await check(scenario)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_hold_on_a_returned_payout_follows_its_lifecycle(
    seed: int, scenario: Scenario, sandbox: Sandbox, changes: StateChanges
) -> None:
    async def start() -> PayoutWalker:
        staff = Staff(scenario, sandbox)
        case = await staff.failed()
        await staff.reconcile(case)
        return PayoutWalker(staff, changes, case)

    await walk(start, STEPS, seed, walks=WALKS, length=LENGTH)
    assert changes.walked[HOLD]
    assert ("prepared", "approved") in changes.walked[DECISION]
    await check(scenario)


async def check(scenario: Scenario) -> None:
    for line in INVARIANTS:
        if line.service == "payouts" and line.rule != OF_ONE_ACCOUNT:
            assert await scenario.fetch(line.offending) == [], line.rule
