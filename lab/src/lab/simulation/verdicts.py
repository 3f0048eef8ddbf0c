"""One run of a plan, and its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from lab.simulation.marketplace import SimulatedMarketplace
from lab.simulation.messages import broken_messages
from lab.simulation.run import OrderRecord, Run
from lab.simulation.settling import FINAL, settle
from lab.simulation.step import Step
from lab.stepped.actions import wallet
from lab.stepped.actors import SUPPORT
from lab.stepped.marketplace import StepRejected, line_of_error

_CHARGED: Final = ("success", "reversed")


@dataclass(slots=True)
class Verdict:
    """The steps of a run with their outcomes (`lines`), the states of its orders, and the promises that it broke."""

    lines: list[str] = field(default_factory=list)
    states: dict[int, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.broken


async def run_plan(market: SimulatedMarketplace, plan: Sequence[Step], *, audits: bool = True) -> Verdict:
    """Run the steps from a new vendor on, settle, and check. Without the audit its findings are left to a later one."""
    verdict = Verdict()
    known = await market.findings() if audits else set()
    market.internal_errors.clear()
    try:
        run = await Run.begin(market)
        for number, step in enumerate(plan, start=1):
            verdict.lines.append(f"{number:3}. {step.sentence}: {await _outcome(run, step)}")
        verdict.states = await settle(run)
        verdict.broken += run.problems
        verdict.broken += await _violations(run, verdict.states)
        verdict.broken += await market.replay()
        verdict.broken += await market.state_changes.forbidden()
    except Exception as error:
        verdict.broken.append(line_of_error(error))
        await recover(market)
    verdict.broken += [f"internal error: {text}" for text in market.internal_errors]
    if audits:
        verdict.broken += sorted(await market.findings() - known)
    return verdict


async def _outcome(run: Run, step: Step) -> str:
    try:
        return await step.run(run)
    except StepRejected as rejection:
        return f"rejected, {rejection.status}"


async def recover(market: SimulatedMarketplace) -> None:
    """End what a broken run left behind, as far as it goes."""
    market.effects.stop()
    market.connection.faults.clear()
    await market.revive()


async def _violations(run: Run, states: dict[int, str]) -> list[str]:
    """Per order: a final state, and the buyer's money to the kobo."""
    broken = [f"order {number} ended as {state}" for number, state in states.items() if state not in FINAL]
    for number, order in run.orders.items():
        broken += await _broken_money(run, number, order)
    left = await wallet(run.market, run.vendor)
    if left["lockedMinor"] or left["inTransitMinor"] or left["heldMinor"]:
        broken.append(f"the wallet is not settled: {left}")
    for payout_id in run.payouts.values():
        transfers = await run.transfers_of(payout_id)
        paid = [line for line in transfers if line["status"] == "success"]
        payout = await run.market.get(f"/api/payouts/{payout_id}", run.vendor)
        if len(paid) > 1:
            broken.append(f"payout {payout_id} was paid {len(paid)} times")
        if payout["status"] == "pending" or payout["openException"] is not None:
            broken.append(f"payout {payout_id} ended as {payout['status']}, {payout['openException']}")
    if run.market.has_everyone:
        broken += await broken_messages(run)
    return broken


async def _broken_money(run: Run, number: int, order: OrderRecord) -> list[str]:
    found = await run.market.get(f"/api/orders/{order.id}", SUPPORT)
    charges = [await run.market.find_at_gateway(f"transaction/verify/{reference}") for reference in order.references]
    charged = sum(charge["amount"] for charge in charges if charge is not None and charge["status"] in _CHARGED)
    refunded = sum(line["amount"] for line in await run.refunds_of(order) if line["status"] == "processed")
    refunded += sum(line["amount"] for line in await run.refund_transfers_of(order) if line["status"] == "success")
    kept = charged - refunded
    expected = order.total_minor - found["refundedMinor"] if found["status"] == "paid" else 0
    # The bank took a disputed amount itself; the audit compares it.
    if not order.disputes and kept != expected:
        return [f"order {number} is {found['status']}: {kept} kobo of the buyer are kept, {expected} expected"]
    return []
