"""One run of a plan, and its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from lab.simulation.marketplace import SimulatedMarketplace
from lab.simulation.messages import broken_messages
from lab.simulation.run import OrderRecord, Run
from lab.simulation.settling import FINAL, settle
from lab.simulation.shares import broken_shares
from lab.simulation.step import Step
from lab.stepped.actions import wallet
from lab.stepped.actors import MAKER, SUPPORT, User
from lab.stepped.errors import StepRejected, line_of_error

_GOODWILL: Final = """
SELECT coalesce(sum(amount_minor), 0)::bigint FROM goodwill_refunds WHERE order_id = ANY ($1) AND status = 'approved'
"""
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
        orders = [order.id for order in run.orders.values()]
        verdict.broken += await broken_shares(market.databases["payments"], orders, market.refunds_of_items)
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
    market.connection.clear_faults()
    await market.revive()


async def _violations(run: Run, states: dict[int, str]) -> list[str]:
    """Per order: a final state. Per payment and buyer: the money to the kobo."""
    broken = [f"order {number} ended as {state}" for number, state in states.items() if state not in FINAL]
    for buyer in run.buyers:
        broken += await _broken_balance(run, buyer)
    for vendor in run.vendors:
        left = await wallet(run.market, vendor)
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


async def _broken_balance(run: Run, buyer: User) -> list[str]:
    """Compare the balance with its statement, its withdrawals and the orders that it paid and received."""
    market = run.market
    balance = await market.get("/api/balance", buyer)
    lines = await market.get("/api/balance/statement?limit=100", buyer)
    broken = [f"{balance['heldMinor']} kobo are held for no payment"] if balance["heldMinor"] else []
    if balance["availableMinor"] != sum(line["amountMinor"] for line in lines):
        broken.append(f"the balance of {balance['availableMinor']} kobo is not the sum of its statement")
    withdrawn_minor = 0
    for withdrawal in await run.withdrawals_of(buyer):
        transfer = await market.sandbox.find(f"transfer/verify/{withdrawal['reference']}")
        is_paid = transfer is not None and transfer["status"] == "success"
        withdrawn_minor += withdrawal["amountMinor"] if is_paid else 0
        if withdrawal["status"] not in (("paid",) if is_paid else ("failed", "rejected")):
            broken.append(f"withdrawal {withdrawal['id']} ended as {withdrawal['status']}, the transfer as {transfer}")
    of_orders = {line["orderId"] for line in lines} - {None}
    outside_minor = sum(line["amountMinor"] for line in lines if line["orderId"] is None and line["kind"] != "reward")
    staff = [one for one in await market.get("/api/withdrawals?limit=100", MAKER) if one["userId"] == str(buyer.id)]
    if outside_minor != sum(one["lossMinor"] for one in staff) - withdrawn_minor:
        broken.append(f"{outside_minor} kobo in the statement, {withdrawn_minor} withdrawn")
    own = [order for order in run.orders.values() if order.buyer is buyer]
    if unknown := of_orders - {order.id for order in own}:
        broken.append(f"the statement names the orders {unknown}")
    for paid_together in {id(order.references): [] for order in own}:
        orders = [order for order in own if id(order.references) == paid_together]
        ids = {order.id for order in orders}
        broken += await _broken_money(run, orders, sum(line["amountMinor"] for line in lines if line["orderId"] in ids))
    return broken


async def _broken_money(run: Run, orders: Sequence[OrderRecord], to_balance_minor: int) -> list[str]:
    """Compare what the gateway and the balance keep of a buyer's money with the orders that one payment pays."""
    found = [await run.market.get(f"/api/orders/{order.id}", SUPPORT) for order in orders]
    charges, refunds = await run.charges_of(*orders), await run.refunds_of(*orders)
    charged = sum(charge["amount_minor"] for charge in charges if charge["status"] in _CHARGED)
    refunded = sum(line["amount_minor"] for line in refunds if line["status"] == "processed")
    transfers = await run.refund_transfers_of(orders[0])
    refunded += sum(line["amount"] for line in transfers if line["status"] == "success")
    given = await run.market.databases["payments"].fetchval(_GOODWILL, [UUID(order.id) for order in orders])
    kept = charged - refunded - (to_balance_minor - given)
    expected = sum(one["totalMinor"] - one["refundedMinor"] for one in found if one["status"] == "paid")
    # The bank took a disputed amount itself; the audit compares it.
    if not orders[0].disputes and kept != expected:
        states = [one["status"] for one in found]
        return [f"orders {states}: {kept} kobo of the buyer are kept, {expected} expected"]
    return []
