"""The end of a run: faults off, time passes, staff and banks decide what waits for them, until every order is final."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from lab.simulation.messages import send_messages
from lab.simulation.run import OrderRecord, Run
from lab.stepped.actions import (
    APPROVE_RECONCILIATION,
    APPROVE_RESOLUTION,
    CANCEL_PAYOUT,
    DISPATCH_PAYOUTS,
    REASON,
    REJECT_RECONCILIATION,
    RELEASE_PAYOUT,
    Facts,
    prepare_and_approve,
    reconcile,
    refund_to_account,
    resolve,
    wallet,
)
from lab.stepped.actors import CHECKER, MAKER, OPS, User
from lab.stepped.errors import StepRejected

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
# Before these every lease and every poll has run; and the last poll of an ended transfer.
_WAITS_MIN: Final = 3
_WAITS_MIN_OF_LOST_TRANSFERS: Final = 6

_WITH_GATEWAY: Final = ("payments", "payouts")
_PREPARED: Final = "SELECT id FROM reconciliations WHERE payout_id = $1 AND status = 'prepared'"
_OUTAGE: Final = "GatewayUnavailable"


async def settle(run: Run) -> dict[int, str]:
    """Let everything come to its end; returns the states of the orders."""
    market = run.market
    market.effects.stop()
    market.connection.clear_faults()
    market.broker.held_until.clear()
    for process in market.processes.values():
        getattr(process.bus, "losses", set()).clear()
    (await market.sandbox.client.delete("/control/faults")).raise_for_status()
    await market.sandbox.set_faults()
    await market.revive()
    await market.run_until_idle()
    states: dict[int, str] = {}
    waits_min = _WAITS_MIN_OF_LOST_TRANSFERS if run.has_lost_transfer else _WAITS_MIN
    for number, wait in enumerate(_WAITS, start=1):
        run.problems += await market.pass_time(wait)
        await market.run_until_idle()
        is_idle = not await _decide(run)
        await market.run_until_idle()
        states = await run.states()
        if number >= waits_min and is_idle and FINAL.issuperset(states.values()):
            break
    if market.has_everyone:
        await send_messages(run)
    return states


async def _decide(run: Run) -> bool:
    """Banks and staff do everything that waits for them; whether there was anything."""
    states = await run.states()
    decided = [await _decide_order(run, order, states[number]) for number, order in run.orders.items()]
    decided += [await _replay_webhooks(run), await _replay_after_outages(run), await _decide_quarantined(run)]
    decided += [await _decide_withdrawals(run, buyer) for buyer in run.buyers]
    decided += [await _decide_payout(run, payout_id) for payout_id in run.payouts.values()]
    return any(decided)


async def _replay_webhooks(run: Run) -> bool:
    """Webhooks that outlived the retry ladder, such as the dispute of a payment whose own webhook was lost."""
    waiting = await run.market.get("/api/dead-letter-webhooks?outcome=dead&limit=100", OPS)
    for webhook in waiting:
        await run.market.post(f"/api/dead-letter-webhooks/{webhook['id']}/replay", OPS)
    await run.market.run_until_idle()
    return bool(waiting)


async def _replay_after_outages(run: Run) -> bool:
    """Messages that met the gateway's outage at every retry, as their runbook says. Any other dead letter stays one."""
    replayed = False
    for service in _WITH_GATEWAY:
        for dead_letter in await run.market.get(f"/api/dead-letters/{service}?awaiting=replay&limit=100", OPS):
            if _OUTAGE in dead_letter["error"]:
                await run.market.post(f"/api/dead-letters/{service}/{dead_letter['id']}/replay", OPS)
                replayed = True
    await run.market.run_until_idle()
    return replayed


async def _decide_order(run: Run, order: OrderRecord, state: str) -> bool:
    market, decided = run.market, False
    for dispute_id in order.disputes:
        decided |= await run.act(f"disputes/{dispute_id}/win") == "200"
    await market.run_until_idle()
    for refund in await run.refunds_of(order):
        if refund["status"] in ("pending", "processing"):
            await market.sandbox.act(f"refunds/{refund['id']}/process")
            decided = True
    for transfer in await run.refund_transfers_of(order):
        if transfer["status"] in ("pending", "otp"):
            await market.sandbox.act(f"transfers/{transfer['reference']}/succeed")
            decided = True
    await market.run_until_idle()
    decided |= await _decide_failed_refunds(run, order)
    if state == "disputed":
        decided = True
        if not order.resolutions or not await _is_approved(run, order.resolutions[-1]):
            await _is_approved(run, await resolve(market, order.id, "buyer"))
    return decided


async def _decide_failed_refunds(run: Run, order: OrderRecord) -> bool:
    """Reject what is prepared, and send what failed again."""
    market, decided = run.market, False
    for prepared in await run.failed_refunds_of(order, "prepared"):
        await market.post(f"/api/refunds/{prepared['id']}/reject", CHECKER, REASON)
    for failed in await run.failed_refunds_of(order):
        if failed["needs_account"]:
            order.refund_transfers.append(await refund_to_account(market, failed["id"]))
        else:
            await prepare_and_approve(market, f"/api/refunds/{failed['id']}", {"action": "retry"})
        decided = True
    return decided


async def _is_approved(run: Run, resolution: Facts) -> bool:
    try:
        await APPROVE_RESOLUTION.post(run.market, CHECKER, resolution)
    except StepRejected:
        return False
    return True


async def _decide_withdrawals(run: Run, buyer: User) -> bool:
    """Two people pay what waits for them, and the bank pays what is under way."""
    decided = False
    for withdrawal in await run.withdrawals_of(buyer):
        path = f"/api/withdrawals/{withdrawal['id']}"
        if withdrawal["status"] in ("waiting", "prepared"):
            if withdrawal["status"] == "prepared":
                await run.market.post(f"{path}/reject", CHECKER, REASON)
            await prepare_and_approve(run.market, path, {"outcome": "pay"})
            await run.market.run_until_idle()
            decided = True
        transfer = await run.market.sandbox.find(f"transfer/verify/{withdrawal['reference']}")
        if transfer is not None and transfer["status"] in ("pending", "otp"):
            await run.market.sandbox.act(f"transfers/{withdrawal['reference']}/succeed")
            decided = True
    await run.market.run_until_idle()
    return decided


async def _decide_quarantined(run: Run) -> bool:
    """Return what pays no order."""
    charges = await run.quarantined()
    for charge in charges:
        await prepare_and_approve(run.market, f"/api/quarantined-charges/{charge['id']}", {"outcome": "return"})
    return bool(charges)


async def _decide_payout(run: Run, payout_id: str) -> bool:
    """Send what waits, let the bank pay what is under way, and reconcile what differs."""
    market, decided = run.market, False
    for transfer in await run.transfers_of(payout_id):
        if transfer["status"] in ("pending", "otp"):
            await market.sandbox.act(f"transfers/{transfer['reference']}/succeed")
            decided = True
    await market.run_until_idle()
    payout = await market.get(f"/api/payouts/{payout_id}", MAKER)
    if payout["openException"] is not None:
        await _resolve_exception(run, payout)
        decided = True
    elif payout["status"] == "pending":
        if payout["hold"] is not None:
            await RELEASE_PAYOUT.post(market, CHECKER, payout)
        await DISPATCH_PAYOUTS.post(market, MAKER, {}, payoutIds=[payout_id])
        decided = True
        if (await wallet(market, run.vendor))["debtMinor"] and not await run.transfers_of(payout_id):
            # A refund took money that the payout reserves: it is held until a release repays the debt.
            await CANCEL_PAYOUT.post(market, run.vendor, payout)
    return decided


async def _resolve_exception(run: Run, payout: Facts) -> None:
    exception = f"/api/payout-exceptions/{payout['openException']['id']}"
    for prepared in await run.market.databases["payouts"].fetch(_PREPARED, UUID(payout["id"])):
        await REJECT_RECONCILIATION.post(run.market, CHECKER, {"reconciliation": prepared["id"]})
    for attempt in (
        lambda: run.market.post(f"{exception}/query", OPS),
        lambda: _reconcile(run, payout["id"]),
        lambda: run.market.post(f"{exception}/close", OPS, {"evidence": "at the end"}),
    ):
        try:
            await attempt()
        except StepRejected:
            continue


async def _reconcile(run: Run, payout_id: str) -> None:
    await APPROVE_RECONCILIATION.post(run.market, CHECKER, await reconcile(run.market, payout_id))
