"""The person who caused each event of an order, for those who may know them (decision 214)."""

from typing import Any
from uuid import UUID, uuid4

from common.primitives.ids import new_id
from testkit.responses import data_of

from .conftest import Market
from .steps import another_pin, change_profile

BUYER, OWNER, PACKER, AGENT = "Chidi O.", "Ada O.", "Bisi A.", "Tunde B."


async def timeline(market: Market, order: dict[str, Any], headers: dict[str, str]) -> list[tuple[str, str | None, Any]]:
    shown = data_of(await market.client.get(f"/api/orders/{order['id']}/timeline", headers=headers))
    return [(one["event"], one["actorRole"], one["actorName"]) for one in shown]


async def project_names(market: Market, agent_id: UUID) -> None:
    await change_profile(market, market.buyer_id, "Chidi Okafor", "+2348030000001")
    await change_profile(market, market.merchant_id, "Ada Obi", "+2348030000002")
    await change_profile(market, market.packer_id, "Bisi Adewale", "+2348030000003")
    await change_profile(market, agent_id, "Tunde Bello", "+2348030000004")


async def test_each_event_of_a_user_names_them_to_the_shop_and_to_support(market: Market) -> None:
    order = await market.paid(hubId=await market.hub())
    agent = market.headers(agent_id := new_id(), roles=("hub_agent",), hub_id=UUID(order["hubId"]))
    await project_names(market, agent_id)
    packing = f"/api/packing-orders/{order['id']}"
    packer, pin = market.as_packer(), await market.pin_of(order)
    await market.verify(order, another_pin(pin), headers=market.as_merchant())
    await market.post(order, "delivery-pin/reissue", market.as_buyer())
    data_of(await market.client.post(f"{packing}/dispatch", json={}, headers=packer))
    data_of(await market.post(order, "arrive", agent))
    body, key = {"pin": await market.pin_of(order)}, {"Idempotency-Key": str(uuid4())}
    data_of(await market.client.post(f"{packing}/verify-delivery", json=body, headers={**packer, **key}))
    roles = [
        ("placed", "buyer"),
        ("escrow_held", None),
        ("pin_issued", None),
        ("pin_rejected", "vendor"),
        ("pin_issued", "buyer"),
        ("vendor_dispatches", "vendor"),
        ("arrived", "hub_agent"),
        ("pin_accepted", "vendor"),
    ]
    everyone = [BUYER, None, None, OWNER, BUYER, PACKER, AGENT, PACKER]
    names = {
        "shop": (market.as_merchant(), [BUYER, None, None, OWNER, BUYER, PACKER, None, PACKER]),
        "support": (market.as_staff("support_agent"), everyone),
        "buyer": (market.as_buyer(), [BUYER, None, None, None, BUYER, None, None, None]),
        "agent": (agent, [BUYER, None, None, None, None, None, AGENT, None]),
    }
    for reader, (headers, expected) in names.items():
        shown = await timeline(market, order, headers)
        assert [(event, role) for event, role, _ in shown] == roles, reader
        assert [name for _, _, name in shown] == expected, reader


async def test_a_cancellation_names_the_buyer_the_shop_or_staff(market: Market) -> None:
    await project_names(market, new_id())
    support = market.as_staff("support_agent", stepped_up=True)
    for headers, event, role, name in (
        (market.as_buyer(), "buyer_cancels", "buyer", BUYER),
        (market.as_merchant(), "vendor_cancels", "vendor", OWNER),
        (support, "staff_cancels", "staff", None),
    ):
        order = await market.paid()
        data_of(await market.post(order, "cancel", headers, {"reason": "sold out"}))
        shown = await timeline(market, order, market.as_merchant())
        assert (event, role, name) in shown


async def test_a_cancelled_line_and_a_dispute_name_their_user(market: Market) -> None:
    await project_names(market, new_id())
    product = await market.sell()
    items = [{"productId": str(one), "quantity": 1} for one in (product, await market.sell(name="Zobo"))]
    key = {"Idempotency-Key": str(uuid4())}
    placed = await market.client.post(
        "/api/orders/checkout", json={"items": items}, headers={**market.as_buyer(), **key}
    )
    order = data_of(placed, 201)
    await market.pay(order)
    path = f"items/{order['items'][0]['id']}/cancel"
    data_of(await market.post(order, path, market.as_merchant(), {"reason": "sold out"}))
    complaint = {"reason": "not_as_described", "details": "The lid is broken."}
    assert (await market.post(order, "dispute", market.as_buyer(), complaint)).status_code in (200, 201)
    shown = await timeline(market, order, market.as_merchant())
    assert shown[-2:] == [("line_cancelled", "vendor", OWNER), ("buyer_disputes", "buyer", BUYER)]


async def test_rows_of_an_earlier_version_have_the_role_of_their_event(market: Market) -> None:
    order = await market.paid()
    await project_names(market, new_id())
    await market.fetch(
        "INSERT INTO order_history (order_id, event, occurred_at, actor_id) VALUES ($1, 'vendor_dispatches', $2, $3)",
        UUID(order["id"]),
        market.clock.now(),
        market.packer_id,
    )
    assert (await timeline(market, order, market.as_merchant()))[-1] == ("vendor_dispatches", "vendor", PACKER)


async def test_a_purchase_is_no_action_of_staff(market: Market) -> None:
    """The buyer's own cancellation is in the timeline, and not among the actions of the role that they hold."""
    order = await market.paid()
    data_of(await market.post(order, "cancel", market.as_buyer(), {"reason": "changed my mind"}))
    both = market.headers(market.buyer_id, roles=("buyer", "support_agent"))
    own = await market.client.get("/api/staff-acts/current", headers=both)
    assert data_of(own) == []
