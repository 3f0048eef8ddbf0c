"""From browsing to a paid-out vendor, through the gateway, with the audit at the end."""

from campus_tools.launcher.system import System
from contracts.demo import AKOKA_HUB
from operations.audit import findings_of
from operations.demo import pin_on_the_phone
from operations.journey import Marketplace
from tests.end_to_end.steps import delivered_order, paid_order

from .conftest import Users


async def test_a_purchase_ends_with_the_vendor_paid_and_the_ledgers_agreeing(
    system: System, market: Marketplace, users: Users
) -> None:
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
    before = await market.wallet(users.vendor)
    order = await delivered_order(market, users)
    net = (
        order["totalMinor"]
        - (await market.order(users.vendor, order["id"]))["commissionMinor"]
        - order["deliveryFeeMinor"]
    )
    wallet = await market.wallet_reaches(users.vendor, before["availableMinor"] + net)
    payout = await market.request_payout(users.vendor, wallet["availableMinor"])
    assert payout["status"] == "pending"
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    assert batch["submitted"] == 1
    await market.payout_reaches(users.vendor, payout["id"], "processed")
    after = await market.wallet(users.vendor)
    assert after["inTransitMinor"] == before["inTransitMinor"]
    assert await findings_of(system.secrets, market.sandbox) == []


async def test_the_pin_reaches_the_buyer_s_phone_and_no_other_user_s_screen(market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    pin = await market.delivery_pin(users.buyer, order["id"])
    assert await market.until("the SMS", lambda: pin_on_the_phone(market, "+2348030000001", pin), 60)
    for outsider in (
        users.other_buyer,
        users.vendor,
        users.other_vendor,
        users.hub,
        users.support,
        users.auditor,
    ):
        response = await market.http.get(f"/api/orders/{order['id']}/delivery-pin", headers=outsider.headers)
        assert response.status_code == 404


async def test_an_agent_of_the_order_s_hub_may_verify(market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users, hubId=str(AKOKA_HUB.id))
    pin = await market.delivery_pin(users.buyer, order["id"])
    assert (await market.verify_delivery(users.hub, order["id"], pin))["status"] == "delivered"


async def test_five_wrong_pins_lock_the_order_until_the_buyer_requests_a_new_one(
    market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    pin = await market.delivery_pin(users.buyer, order["id"])
    wrong = str((int(pin) + 1) % 10**6).zfill(6)
    left = []
    for _ in range(5):
        response = await attempt(market, users.vendor, order["id"], wrong)
        assert (response.status_code, response.json()["code"]) == (400, "DELIVERY_PIN_INVALID")
        left.append(response.json()["attemptsRemaining"])
    assert left == [4, 3, 2, 1, 0]
    locked = await attempt(market, users.vendor, order["id"], pin)
    assert (locked.status_code, locked.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
    assert "Retry-After" in locked.headers
    await market.post(f"/api/orders/{order['id']}/delivery-pin/reissue", {}, users.buyer)
    assert (
        await attempt(market, users.vendor, order["id"], await market.delivery_pin(users.buyer, order["id"]))
    ).is_success


async def attempt(market: Marketplace, user, order_id, pin):
    from uuid import uuid4

    headers = {**user.headers, "Idempotency-Key": str(uuid4())}
    return await market.http.post(f"/api/orders/{order_id}/verify-delivery", json={"pin": pin}, headers=headers)
