"""One trace from the gateway through HTTP and broker to the last consumer."""

from operations.journey import Marketplace
from tests.end_to_end.steps import placed_order

from .conftest import Users


async def spans_of(market: Marketplace, title: str, *services: str):
    """Return the newest trace whose title starts with `title` and that reached these services."""
    for summary in (await market.sandbox.get("/control/traces")).json()["traces"]:
        if title in summary["title"]:
            trace = (await market.sandbox.get(f"/control/traces/{summary['trace_id']}")).json()
            if set(services) <= set(trace["services"]):
                return trace
    return None


async def test_the_webhook_s_trace_ends_at_the_notification(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    # Before the traces of other tests replace it.
    assert await market.until(
        "the intent's trace", lambda: spans_of(market, "/api/payments/intent", "api-gateway", "payments-api"), 30
    )
    await market.pay(intent)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    path = ("api-gateway", "payments-api", "orders-worker", "notifications-worker")
    assert await market.until(
        "the webhook's trace", lambda: spans_of(market, "/functions/v1/gateway-webhook", *path), 30
    )
