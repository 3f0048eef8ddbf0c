"""Attacks of members of a shop through the gateway: money, amounts, and requests after their removal (206, 214)."""

import asyncio
import re
from typing import Any
from uuid import uuid4

import httpx

from campus_tools.endpoints import endpoints
from console.formats import naira
from contracts.demo import ADA
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.conftest import Users
from tests.end_to_end.live_feed import following
from tests.end_to_end.steps import paid_order

PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
PRICE_MINOR = 9_876_53
MEMBERS, INVITATIONS = "/api/shop-members", "/api/shop-invitations"
CHANGES_MAX = 200


async def request(market: Marketplace, method: str, path: str, user: SignedInUser, **more: Any) -> httpx.Response:
    headers = {**user.headers, "Idempotency-Key": str(uuid4())}
    return await market.http.request(method, path, headers=headers, **more)


async def joined(market: Marketplace, users: Users, role: str) -> tuple[SignedInUser, str]:
    """Return a new member of the demo vendor's shop with a session of the role, and their user id."""
    address = f"{role}.{uuid4().hex}@unilag.edu.ng"
    student = await market.sign_up(address, "Bisi Adewale", f"+234803{uuid4().int % 10**7:07d}")
    invitation = await market.post(INVITATIONS, {"email": address, "role": role}, users.vendor)
    member = await market.post(f"{INVITATIONS}/{invitation['id']}/accept", {}, student)
    return await market.sign_in(address), member["userId"]


async def sold_order(market: Marketplace, users: Users) -> dict[str, Any]:
    """Return a paid order of three pieces, so that no amount of it is a price of the catalog."""
    offered = {"name": f"Bag {uuid4().hex[:6]}", "description": "New.", "category": "fashion", "stock": 9}
    product = await market.post("/api/products", {**offered, "priceMinor": PRICE_MINOR}, users.vendor)
    order = await market.checkout(users.buyer, product["id"], 3)
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    return await market.order_reaches(users.vendor, order["id"], "paid_escrow")


def amounts_of(order: dict[str, Any]) -> list[str]:
    """Return the total and the two shares of the order, as numbers and as people read them."""
    share = order["subtotalMinor"] - order["commissionMinor"]
    return [
        text for minor in (order["totalMinor"], order["subtotalMinor"], share) for text in (str(minor), naira(minor))
    ]


async def test_no_response_feed_or_stream_gives_a_packer_an_amount_of_the_shop(
    market: Marketplace, users: Users
) -> None:
    packer, _ = await joined(market, users, "packer")
    async with following(market, packer) as next_entry:
        order = await sold_order(market, users)
        entry = await next_entry()
    assert (entry["template"], entry["subject"]["id"]) == ("order_to_pack", order["id"])
    assert order["number"] in entry["body"]
    shop_id, product_id = order["vendorId"], order["items"][0]["productId"]
    ids = {"vendor_id": shop_id, "product_id": product_id, "month": "2026-01", "order_id": order["id"]}
    leaks, read = [str(entry)], 0
    for endpoint in endpoints():
        if endpoint.method != "GET" or endpoint.path.endswith("/stream") or endpoint.path.startswith("/internal"):
            continue
        path = PARAMETER.sub(lambda found: str(ids.get(found[1], order["id"])), endpoint.route.path)
        shown = await market.http.get(path, headers=packer.headers)
        assert shown.status_code < 500, path
        read += shown.status_code == 200
        leaks.append(f"{path} {shown.text}")
    found = [text[:80] for text in leaks if any(amount in text for amount in amounts_of(order))]
    assert found == []
    assert read > 20
    whole = (await market.http.get(f"/api/packing-orders/{order['id']}", headers=packer.headers)).json()
    assert whole["data"]["number"] == order["number"]


async def test_a_packer_or_manager_who_guesses_reaches_no_payout_key_or_member(
    market: Marketplace, users: Users
) -> None:
    packer, packer_id = await joined(market, users, "packer")
    manager, _ = await joined(market, users, "manager")
    payout_id = str(uuid4())
    for payout in await market.get("/api/payouts", users.vendor):
        payout_id = payout["id"]
    view = await market.post(
        "/api/saved-views", {"path": "/orders", "name": "Mine", "query": "status=paid"}, users.vendor
    )
    attacks = (
        ("GET", f"/api/payouts/{payout_id}", None),
        ("POST", f"/api/payouts/{payout_id}/cancel", {}),
        ("POST", "/api/payouts", {"amountMinor": 100_000}),
        ("GET", "/api/wallets/current", None),
        ("GET", "/api/wallets/current/statement", None),
        ("GET", "/api/payouts", None),
        ("GET", f"/api/payouts/{payout_id}/remittance", None),
        ("GET", f"/api/vendors/{ADA.id}/bank-details", None),
        ("PUT", f"/api/vendors/{ADA.id}/bank-details", {"accountNumber": "0123456789", "bankCode": "058"}),
        ("POST", "/api/api-keys", {"name": "k", "scopes": ["shop_money:read"], "expiresAt": "2027-01-01T00:00:00Z"}),
        ("POST", "/api/webhook-endpoints", {"url": "https://example.com/hook", "types": ["payments.escrow_held.v1"]}),
        ("POST", INVITATIONS, {"email": "friend@unilag.edu.ng", "role": "manager"}),
        ("PATCH", f"{MEMBERS}/{packer_id}", {"role": "manager"}),
        ("DELETE", f"/api/saved-views/{view['id']}", None),
        ("POST", f"/api/alerts/{uuid4()}/acknowledge", {}),
    )
    for user in (packer, manager):
        for method, path, body in attacks:
            refused = await request(market, method, path, user, **({} if body is None else {"json": body}))
            assert refused.status_code in (403, 404), (method, path, refused.status_code, refused.text)
        assert await market.get("/api/saved-views", user) == []
    assert view["id"] in {one["id"] for one in await market.get("/api/saved-views", users.vendor)}


async def test_a_manager_who_is_removed_in_the_middle_of_requests_has_no_later_effect(
    market: Marketplace, users: Users
) -> None:
    """Changes of the stock run while the owner removes the manager: each that is answered 200 holds, none follows."""
    manager, user_id = await joined(market, users, "manager")
    offered = {"name": f"Rice {uuid4().hex[:6]}", "description": "Hot.", "category": "meals", "priceMinor": 150_000}
    product = await market.post("/api/products", {**offered, "stock": 1}, users.vendor)
    path, accepted, last = f"/api/products/{product['id']}", [1], 0
    removal = None
    for stock in range(2, CHANGES_MAX):
        changed = await request(market, "PATCH", path, manager, json={"stock": stock})
        if changed.status_code != 200:
            last = changed.status_code
            break
        accepted.append(stock)
        if removal is None and stock == 4:
            removal = asyncio.create_task(request(market, "DELETE", f"{MEMBERS}/{user_id}", users.vendor))
    assert removal is not None
    assert (await removal).status_code == 204
    assert last == 401
    assert len(accepted) > 3
    order = await paid_order(market, users)
    for method, place, body in (
        ("PATCH", path, {"stock": 777}),
        ("POST", f"/api/orders/{order['id']}/dispatch", {}),
        ("GET", f"/api/orders/{order['id']}", None),
        ("POST", "/api/auth/refresh", {"refreshToken": manager.refresh_token}),
    ):
        refused = await request(market, method, place, manager, **({} if body is None else {"json": body}))
        assert refused.status_code == 401, place
    assert (await market.get(path, users.vendor))["stock"] == accepted[-1]
    assert (await market.order(users.vendor, order["id"]))["status"] == "paid_escrow"
