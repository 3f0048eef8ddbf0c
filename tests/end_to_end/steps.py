"""Shorthands of the journey for tests."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyotp

from contracts.demo import ADA, LAGOS
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.conftest import Users

# Five tests of a run may sell a product out; a well-stocked product keeps the others independent.
STOCK_MIN = 10


async def a_product(market: Marketplace, *, at_least_minor: int = 10_000) -> dict[str, Any]:
    """Return a product of the demo vendor Ada that is well in stock."""
    for product in await market.products(vendorId=str(ADA.id), inStock="true", limit=100):
        if product["stock"] >= STOCK_MIN and product["priceMinor"] >= at_least_minor:
            return product
    raise AssertionError("the demo data has no such product")


async def placed_order(market: Marketplace, users: Users, quantity: int = 1, **more: Any) -> dict[str, Any]:
    product = await a_product(market)
    return await market.checkout(users.buyer, product["id"], quantity, **more)


async def paid_order(market: Marketplace, users: Users) -> dict[str, Any]:
    """Return an order whose money is held in escrow."""
    order = await placed_order(market, users)
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    return await market.order_reaches(users.buyer, order["id"], "paid_escrow")


async def delivered_order(market: Marketplace, users: Users) -> dict[str, Any]:
    """Return an order that was dispatched, delivered and released."""
    order = await paid_order(market, users)
    await market.dispatch(users.vendor, order["id"])
    await market.verify_delivery(users.vendor, order["id"], await market.delivery_pin(users.buyer, order["id"]))
    return await market.order_reaches(users.buyer, order["id"], "paid")


@dataclass(frozen=True)
class Shop:
    """A vendor of one test alone, stepped up, with money in the wallet and three existing bank accounts."""

    owner: SignedInUser
    path: str
    accounts: tuple[str, str, str]

    async def set_account(self, market: Marketplace, account_number: str) -> tuple[int, dict[str, Any]]:
        """Return the status and response of a change of the bank details."""
        body = {"accountNumber": account_number, "bankCode": "058"}
        response = await market.http.put(self.path, json=body, headers=self.owner.headers)
        return response.status_code, response.json()


async def open_shop(market: Marketplace, users: Users) -> Shop:
    """Signed up, approved, with a second factor, and one delivered order: what a test does to its payouts touches no other's."""
    address, legal_name = f"kemi.{uuid4().hex[:12]}@unilag.edu.ng", "Kemi Ojo Trading"
    student = await market.sign_up(address, "Kemi Ojo", f"+234803{uuid4().int % 10**7:07d}")
    application = {
        "businessName": "Kemi's Corner", "legalName": legal_name, "campusId": str(LAGOS.id), "category": "food",
        "description": "Small chops.",
    }  # fmt: skip
    requested = await market.post("/api/vendor-applications", application, student)
    path = f"/api/vendor-applications/{requested['id']}/approve"
    vendor_id = (await market.post(path, {}, users.campus))["vendorId"]
    owner = await market.sign_in(address)
    secret = (await market.post("/api/auth/mfa/enroll", {}, owner))["secret"]
    tokens = await market.post("/api/auth/mfa/verify", {"code": pyotp.TOTP(secret).now()}, owner)
    owner = SignedInUser(address, tokens["accessToken"], tokens["refreshToken"])
    first, second, third = accounts = tuple(f"{uuid4().int % 10**10:010d}" for _ in range(3))
    for account_number in accounts:
        body = {"bank_code": "058", "account_number": account_number, "account_name": legal_name.upper()}
        (await market.sandbox.put("/control/accounts", json=body)).raise_for_status()
    await _deliver_one(market, users, owner)
    return Shop(owner, f"/api/vendors/{vendor_id}/bank-details", (first, second, third))


async def _deliver_one(market: Marketplace, users: Users, owner: SignedInUser) -> None:
    async def product() -> dict[str, Any] | None:
        body = {
            "name": "Puff puff", "description": "A dozen", "category": "food", "priceMinor": 1_000_000, "stock": 9,
        }  # fmt: skip
        response = await market.http.post("/api/products", json=body, headers=owner.headers)
        return response.json()["data"] if response.is_success else None

    listed = await market.until("orders knows the vendor", product, 60, every=0.3)
    order = await market.checkout(users.buyer, listed["id"])
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    await market.dispatch(owner, order["id"])
    await market.verify_delivery(owner, order["id"], await market.delivery_pin(users.buyer, order["id"]))
    await market.wallet_reaches(owner, 900_000)
