"""Idempotency keys through the gateway (contract section 3)."""

import asyncio
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg

from campus_tools.launcher.system import System
from common.web.endpoint_table import Idempotency, read_routes
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.steps import a_product, newcomer, open_shop, paid_order, purchase_draft, stepped_up

from .conftest import Users


async def post_checkout(market: Marketplace, user, product_id, key, quantity=1):
    body = {"items": [{"productId": product_id, "quantity": quantity}]}
    return await market.http.post(
        "/api/orders/checkout", json=body, headers={**user.headers, "Idempotency-Key": str(key)}
    )


async def test_twenty_checkouts_under_one_key_make_one_order(market: Marketplace, users: Users) -> None:
    product, key = await a_product(market), uuid4()
    responses = await asyncio.gather(*(post_checkout(market, users.buyer, product["id"], key) for _ in range(20)))
    made = [response for response in responses if response.status_code == 201]
    assert made
    assert {response.status_code for response in responses} <= {201, 409}
    assert len({response.json()["data"]["id"] for response in made}) == 1
    assert sum("X-Cache-Lookup" not in response.headers for response in made) == 1
    for refused in (response for response in responses if response.status_code == 409):
        assert refused.json()["code"] == "CONCURRENCY_CONFLICT"
        assert "in progress" in refused.json()["detail"]
    again = await post_checkout(market, users.buyer, product["id"], key)
    assert (again.status_code, again.headers["X-Cache-Lookup"]) == (201, "HIT")
    first = next(response for response in made if "X-Cache-Lookup" not in response.headers)
    assert again.content == first.content


async def test_a_gateway_killed_in_between_changes_nothing_about_it(
    system: System, market: Marketplace, users: Users
) -> None:
    product, key = await a_product(market), uuid4()
    first = await post_checkout(market, users.buyer, product["id"], key)
    gateway = system.process("api-gateway")
    before = gateway.kill()
    await asyncio.to_thread(gateway.wait_restarted, before, 60)
    again = await market.until("the gateway answers", lambda: reached(market, users, product, key), 60)
    assert again.headers["X-Cache-Lookup"] == "HIT"
    assert again.json()["data"]["id"] == first.json()["data"]["id"]


async def reached(market: Marketplace, users: Users, product, key):
    import httpx

    try:
        response = await post_checkout(market, users.buyer, product["id"], key)
    except httpx.TransportError:
        return None
    return response if response.status_code < 500 else None


async def test_a_key_with_other_content_is_rejected_and_a_foreign_key_is_unknown(
    market: Marketplace, users: Users
) -> None:
    product, key = await a_product(market), uuid4()
    first = await post_checkout(market, users.buyer, product["id"], key)
    other = await post_checkout(market, users.buyer, product["id"], key, quantity=2)
    assert (other.status_code, other.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    outsider = await post_checkout(market, users.other_buyer, product["id"], key)
    assert outsider.status_code == 201
    assert outsider.json()["data"]["id"] != first.json()["data"]["id"]


async def test_the_key_must_be_there_and_a_uuid_of_version_4(market: Marketplace, users: Users) -> None:
    product = await a_product(market)
    for key in ("", "abc", "018cc251-f400-7004-8000-000000000001"):
        response = await post_checkout(market, users.buyer, product["id"], key)
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")


def identity_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return what a resource is, without what time changes about it."""
    found = {name: data[name] for name in ("id", "reference", "batchId", "number") if name in data}
    assert found
    return found


class Repeated:
    """Requests that are sent twice with one key. The gateway's record of the first is lost in between, as a crash of
    its database may lose it.
    """

    def __init__(self, system: System, market: Marketplace) -> None:
        url = urlsplit(system.secrets["DATABASE_URL"])._replace(path="/campus_api_gateway")
        self._database, self._market, self.paths = url.geturl(), market, set[str]()

    async def post(self, path: str, body: dict[str, Any], user: SignedInUser, *, subject: str = "") -> dict[str, Any]:
        """Return the data of the second response. `subject` is the id in the path."""
        key = uuid4()
        self.paths.add(path.replace(subject, ":id") if subject else path)
        first = await self._market.until(path, lambda: self._send(path, body, user, key), 60)
        await self._forget()
        again = await self._send(path, body, user, key)
        assert again is not None
        assert identity_of(again["data"]) == identity_of(first["data"])
        return again["data"]

    async def _send(self, path: str, body: dict[str, Any], user: SignedInUser, key) -> dict[str, Any] | None:
        headers = {**user.headers, "Idempotency-Key": str(key)}
        response = await self._market.http.post(path, json=body, headers=headers)
        # A service does not know at once what another has made.
        if response.status_code == 404:
            return None
        assert response.is_success, response.text
        assert "X-Cache-Lookup" not in response.headers
        return response.json()

    async def _forget(self) -> None:
        connection = await asyncpg.connect(self._database)
        try:
            assert await connection.execute("DELETE FROM idempotency_records") != "DELETE 0"
        finally:
            await connection.close()


async def refunded_buyer(market: Marketplace, product: dict[str, Any]) -> SignedInUser:
    """Return a buyer with a second factor who left the refund of an order in the balance."""
    buyer = await stepped_up(market, (await newcomer(market)).email)
    order = await market.checkout(buyer, product["id"])
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await market.order_reaches(buyer, order["id"], "paid_escrow")
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "Too late", "refundTo": "balance"}, buyer)

    async def refunded() -> bool:
        return bool((await market.get("/api/balance", buyer))["availableMinor"])

    await market.until("the refund is in the balance", refunded, 60, every=0.3)
    return buyer


async def test_a_repetition_whose_record_was_lost_has_no_second_effect(
    system: System, market: Marketplace, users: Users
) -> None:
    repeated, product = Repeated(system, market), await a_product(market)
    items = {"items": [{"productId": product["id"], "quantity": 1}]}
    await repeated.post("/api/purchases", items, users.buyer)
    student, draft = await purchase_draft(market, product)
    await repeated.post(f"{draft}/checkout", {}, student, subject=draft.rpartition("/")[2])
    assert len(await market.get("/api/purchases", student)) == 1
    order = await repeated.post("/api/orders/checkout", items, users.buyer)
    intent = await repeated.post("/api/payments/intent", {"orderId": order["id"]}, users.buyer)
    await market.pay(intent)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    await market.dispatch(users.vendor, order["id"])
    pin = {"pin": await market.delivery_pin(users.buyer, order["id"])}
    delivery = f"/api/orders/{order['id']}/verify-delivery"
    await repeated.post(delivery, pin, users.vendor, subject=order["id"])
    packed = await paid_order(market, users)
    await market.dispatch(users.vendor, packed["id"])
    handed_over = {"pin": await market.delivery_pin(users.buyer, packed["id"])}
    delivery = f"/api/packing-orders/{packed['id']}/verify-delivery"
    await repeated.post(delivery, handed_over, await market.sign_in("packer@unilag.edu.ng"), subject=packed["id"])
    shop = await open_shop(market, users)
    await shop.set_account(market, shop.accounts[0])
    payout = await market.request_payout(shop.owner, 100_000)
    await repeated.post("/api/payouts/dispatch", {"payoutIds": [payout["id"]]}, users.maker)
    buyer = await refunded_buyer(market, product)
    account = {"accountNumber": shop.accounts[0], "bankCode": "058"}
    withdrawal = await repeated.post("/api/balance/withdrawals", {"amountMinor": 10_000, **account}, buyer)
    assert len(await market.get("/api/balance/withdrawals", buyer)) == 1

    async def paid() -> bool:
        found = await market.get(f"/api/balance/withdrawals/{withdrawal['id']}", buyer)
        return found["status"] == "paid"

    await market.until("the withdrawal is paid", paid, 60, every=0.5)
    assert repeated.paths == {route.path for route in read_routes() if route.idempotency is Idempotency.REQUIRED}
