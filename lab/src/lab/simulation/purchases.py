"""Disputes of purchases of two vendors, whose postings the replay derives (contract section 7.7). Plans have none."""

from typing import Final

from lab.simulation.marketplace import SimulatedMarketplace
from lab.simulation.run import PRICE_MINOR, Run
from lab.stepped.actions import CANCEL_ORDER, Facts, deliver, pay
from lab.stepped.actors import SUPPORT, User

# Of the charge, so that the shares have a remainder.
_DISPUTED_MINOR: Final = PRICE_MINOR + 1


async def replay_disputes(market: SimulatedMarketplace) -> list[str]:
    """Lose two disputes of a part of the charge, and return what their recorded inputs do not explain.

    One is of a purchase of which an order is delivered, the other of one of which an order's refund has failed.
    """
    runs = [await Run.begin(market) for _ in range(2)]
    delivered = await _paid_purchase(market, runs)
    await deliver(market, delivered["orders"][0], runs[0].vendor, runs[0].buyers[0])
    await _decide_for_payer(market, delivered)
    refunded = await _paid_purchase(market, runs)
    await CANCEL_ORDER.run(market, SUPPORT, refunded["orders"][1])
    for refund in await market.listed("refund", reference=refunded["reference"]):
        await market.act(f"refunds/{refund['id']}/fail")
    await market.run_until_idle()
    await _decide_for_payer(market, refunded)
    return await market.replay()


async def _paid_purchase(market: SimulatedMarketplace, runs: list[Run]) -> Facts:
    """Return a purchase of both vendors, of two pieces of the first, with its orders and its `reference`."""
    buyer: User = runs[0].buyers[0]
    quantities = zip(runs, (2, 1), strict=True)
    items = [{"productId": run.product_id, "quantity": quantity} for run, quantity in quantities]
    purchase = dict(await market.post("/api/purchases", buyer, {"items": items}))
    await market.run_until_idle()
    intent = await market.post("/api/payments/intent", buyer, {"purchaseId": purchase["id"]})
    await pay(market, intent)
    orders = [dict(await market.get(f"/api/orders/{order['id']}", buyer)) for order in purchase["orders"]]
    assert [order["status"] for order in orders] == ["paid_escrow", "paid_escrow"]
    return {**purchase, "orders": orders, "reference": intent["reference"]}


async def _decide_for_payer(market: SimulatedMarketplace, purchase: Facts) -> None:
    opened = await market.act(f"charges/{purchase['reference']}/dispute", {"amount": _DISPUTED_MINOR})
    await market.run_until_idle()
    await market.act(f"disputes/{opened['id']}/lose")
    await market.run_until_idle()
