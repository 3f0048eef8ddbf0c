"""The end of a run: faults off, time passes, staff and banks decide what waits for them, until every order is final."""

from datetime import timedelta
from typing import Any, Final

from lab.simulation.messages import send_messages
from lab.simulation.story import OrderStory, Story
from lab.stepped.actors import CHECKER, MAKER, OPS, SUPPORT
from lab.stepped.marketplace import StepRejected

FINAL: Final = frozenset({"expired", "cancelled", "paid", "refunded"})
# Longer than every lease and poll; then the vendor's idle time, the PIN's window and their refunds.
_WAITS: Final = (
    timedelta(minutes=20),
    timedelta(hours=2),
    timedelta(days=2),
    timedelta(days=4),
    timedelta(hours=2),
    timedelta(days=15),
    timedelta(hours=2),
    timedelta(days=2),
    timedelta(hours=2),
)
# Before these every lease and every poll has run.
_WAITS_MIN: Final = 3

_WITH_GATEWAY: Final = ("payments", "payouts")
_OUTAGE: Final = "GatewayUnavailable"

_FAILED_REFUNDS: Final = """
SELECT r.id FROM refunds r JOIN charges c ON c.id = r.charge_id WHERE c.reference = ANY ($1) AND r.status = 'failed'
"""
_QUARANTINED: Final = "SELECT id FROM quarantined_charges WHERE reference = ANY ($1) AND status = 'quarantined'"


async def settle(story: Story) -> dict[int, str]:
    """Let everything come to its end; returns the states of the orders."""
    market = story.market
    market.effects.stop()
    market.connection.faults.clear()
    market.broker.held_until.clear()
    for process in market.processes.values():
        getattr(process.bus, "losses", set()).clear()
    (await market.sandbox.delete("/control/faults")).raise_for_status()
    await market.faults()
    await market.revive()
    await market.run_until_idle()
    states: dict[int, str] = {}
    for number, wait in enumerate(_WAITS, start=1):
        story.problems += await market.pass_time(wait)
        await market.run_until_idle()
        is_idle = not await _decide(story)
        await market.run_until_idle()
        states = await story.states()
        if number >= _WAITS_MIN and is_idle and FINAL.issuperset(states.values()):
            break
    if market.has_everyone:
        await send_messages(story)
    return states


async def _decide(story: Story) -> bool:
    """Banks and staff do everything that waits for them; whether there was anything."""
    decided = False
    states = await story.states()
    for number, order in story.orders.items():
        decided |= await _decide_order(story, order, states[number])
    decided |= await _replay_webhooks(story)
    decided |= await _replay_after_outages(story)
    decided |= await _decide_quarantined(story)
    for payout_id in story.payouts.values():
        decided |= await _decide_payout(story, payout_id)
    return decided


async def _replay_webhooks(story: Story) -> bool:
    """Webhooks that outlived the retry ladder, such as the dispute of a payment whose own webhook was lost."""
    waiting = await story.market.get("/api/dead-letter-webhooks?outcome=dead&limit=100", OPS)
    for webhook in waiting:
        await story.market.post(f"/api/dead-letter-webhooks/{webhook['id']}/replay", OPS)
    await story.market.run_until_idle()
    return bool(waiting)


async def _replay_after_outages(story: Story) -> bool:
    """Messages that met the gateway's outage at every retry, as their runbook says. Any other dead letter stays one."""
    replayed = False
    for service in _WITH_GATEWAY:
        for dead_letter in await story.market.get(f"/api/dead-letters/{service}?awaiting=replay&limit=100", OPS):
            if _OUTAGE in dead_letter["error"]:
                await story.market.post(f"/api/dead-letters/{service}/{dead_letter['id']}/replay", OPS)
                replayed = True
    await story.market.run_until_idle()
    return replayed


async def _decide_order(story: Story, order: OrderStory, state: str) -> bool:
    market, decided = story.market, False
    for dispute_id in order.disputes:
        response = await market.sandbox.post(f"/control/disputes/{dispute_id}/win", json={})
        decided |= response.is_success
    await market.run_until_idle()
    for refund in await story.refunds_of(order):
        if refund["status"] in ("pending", "processing"):
            await market.act(f"refunds/{refund['id']}/process")
            decided = True
    await market.run_until_idle()
    for row in await market.databases["payments"].fetch(_FAILED_REFUNDS, order.references):
        path = f"/api/refunds/{row['id']}"
        made = await market.post(f"{path}/prepare", MAKER, {"action": "retry", "reason": "at the end"})
        await market.post(f"{path}/approve", CHECKER, {"hash": made["hash"]})
        decided = True
    if state == "disputed":
        decided = True
        if not order.resolutions or not await _is_decided(story, order.resolutions[-1]):
            made = await market.post(f"/api/orders/{order.id}/resolve", SUPPORT, {"outcome": "buyer"})
            await _is_decided(story, (made["resolutionId"], made["hash"]))
    return decided


async def _is_decided(story: Story, resolution: tuple[str, str]) -> bool:
    try:
        await story.post(f"/api/dispute-resolutions/{resolution[0]}/approve", CHECKER, {"hash": resolution[1]})
    except StepRejected:
        return False
    return True


async def _decide_quarantined(story: Story) -> bool:
    """Return what pays no order."""
    references = [reference for order in story.orders.values() for reference in order.references]
    decided = False
    for charge in await story.market.databases["payments"].fetch(_QUARANTINED, references):
        path = f"/api/quarantined-charges/{charge['id']}"
        made = await story.post(f"{path}/prepare", MAKER, {"outcome": "return", "reason": "at the end"})
        await story.post(f"{path}/approve", CHECKER, {"hash": made["hash"]})
        decided = True
    return decided


async def _decide_payout(story: Story, payout_id: str) -> bool:
    """Send what waits, let the bank pay what is under way, and reconcile what differs."""
    market, decided = story.market, False
    for transfer in await story.transfers_of(payout_id):
        if transfer["status"] in ("pending", "otp"):
            await market.act(f"transfers/{transfer['reference']}/succeed")
            decided = True
    await market.run_until_idle()
    payout = await market.get(f"/api/payouts/{payout_id}", MAKER)
    if payout["openException"] is not None:
        await _resolve_exception(story, payout)
        decided = True
    elif payout["status"] == "pending":
        await story.post("/api/payouts/dispatch", MAKER, {"payoutIds": [payout_id]})
        decided = True
        if (await story.wallet())["debtMinor"] and not await story.transfers_of(payout_id):
            # A refund took money that the payout reserves: it is held until a release repays the debt.
            await story.post(f"/api/payouts/{payout_id}/cancel", story.vendor)
    return decided


async def _resolve_exception(story: Story, payout: dict[str, Any]) -> None:
    exception = f"/api/payout-exceptions/{payout['openException']['id']}"
    path = f"/api/payouts/{payout['id']}/reconciliations"
    for attempt in (
        lambda: story.post(f"{exception}/query", OPS),
        lambda: _reconcile(story, path),
        lambda: story.post(f"{exception}/close", OPS, {"evidence": "at the end"}),
    ):
        try:
            await attempt()
        except StepRejected:
            continue


async def _reconcile(story: Story, path: str) -> None:
    made = await story.post(path, MAKER, {"reason": "at the end"})
    await story.post(f"/api/reconciliations/{made['id']}/approve", CHECKER, {"hash": made["hash"]})
