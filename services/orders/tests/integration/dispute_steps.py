"""Disputed orders and decisions on them."""

from testkit.responses import data_of

from .conftest import Market

COMPLAINT = {"reason": "never came", "details": "I waited at the gate for two hours."}


async def disputed(market: Market, **more):
    """Return a dispatched order that its buyer disputes."""
    order = await market.paid(**more)
    await market.post(order, "dispatch", market.as_merchant())
    response = await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    assert (response.status_code, response.json()["data"]["status"]) == (200, "disputed"), response.text
    return order


async def prepared(market: Market, order, outcome, refund_minor=None, **more):
    body = {"outcome": outcome} | ({"refundMinor": refund_minor} if refund_minor is not None else {})
    resolution = data_of(await market.post(order, "resolve", market.as_staff("support_agent", **more), body), 201)
    assert (set(resolution), resolution["status"]) == ({"resolutionId", "status", "hash"}, "prepared")
    return resolution["resolutionId"]


async def decide(market: Market, resolution_id, verb="approve", headers=None):
    if verb == "approve":
        return await market.approve_resolution(resolution_id, headers)
    headers = headers or market.as_staff("finance_checker", stepped_up=True)
    return await market.client.post(f"/api/dispute-resolutions/{resolution_id}/{verb}", headers=headers)


async def events(market: Market, event):
    return await market.published(f"orders.{event}.v1")


async def shown_dispute(market: Market, order, headers=None):
    url = f"/api/orders/{order['id']}/dispute"
    return data_of(await market.client.get(url, headers=headers or market.as_buyer()))


ROUNDS = 50
