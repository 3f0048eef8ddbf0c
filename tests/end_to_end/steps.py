"""Shorthands of the journey for tests."""

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pyotp

from campus_tools.launcher.system import System
from contracts.demo import ADA, LAGOS, DemoVendor
from operations.audit import findings_of
from operations.journey import Marketplace, SignedInUser
from operations.services import SERVICES
from testkit.fixtures import eventually
from tests.end_to_end.conftest import Users

# Five tests of a run may sell a product out; a well-stocked product keeps the others independent.
STOCK_MIN = 10
COMPLAINT = {"reason": "never came", "details": "I waited at the gate for two hours."}
# A text of columns and rows, with a bytea as hexadecimal digits.
ROWS = "SELECT t::text FROM {table} t WHERE t::text ~ $1"
TABLES = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"


async def a_product(market: Marketplace, *, of: DemoVendor = ADA, at_least_minor: int = 10_000) -> dict[str, Any]:
    """Return a product of a demo vendor that is well in stock and has no variants."""
    for product in await market.products(vendorId=str(of.id), inStock="true", limit=100):
        if product["stock"] >= STOCK_MIN and product["priceMinor"] >= at_least_minor and not product["options"]:
            return product
    raise AssertionError("the demo data has no such product")


async def purchase_draft(market: Marketplace, product: dict[str, Any]) -> tuple[SignedInUser, str]:
    """Send a cart by the messaging app, twice; return its student and the path of the draft whose link came back."""
    phone = f"+234803{uuid4().int % 10**7:07d}"
    student = await market.sign_up(f"student.{uuid4().hex}@unilag.edu.ng", "Ngozi Eze", phone)
    await market.prove_number(student, phone)
    item = {"product_retailer_id": product["id"], "quantity": 1, "item_price": 1, "currency": "NGN"}
    order = {"catalog_id": "7", "product_items": [item]}
    message = {"from": phone, "id": f"wamid.{uuid4().hex}", "message": {"type": "order", "order": order}}
    for _ in range(2):
        assert (await market.sandbox.post("/control/messaging/incoming", json=message)).status_code == 202

    async def reply() -> Any:
        return await market.messages(phone, "messaging") or None

    [sent] = await market.until("the link is on the telephone", reply, 60)
    found = re.search(r"/purchase-drafts/[0-9a-f-]{36}$", sent["text"])
    assert found is not None
    return student, f"/api{found[0]}"


async def placed_order(market: Marketplace, users: Users, quantity: int = 1, **more: Any) -> dict[str, Any]:
    product = await a_product(market)
    return await market.checkout(users.buyer, product["id"], quantity, **more)


async def paid_order(market: Marketplace, users: Users, **more: Any) -> dict[str, Any]:
    """Return an order whose money is held in escrow."""
    order = await placed_order(market, users, **more)
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
    """Signed up, approved, with a second factor, and one delivered order: what a test does to its payouts touches no
    other's.
    """
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


async def mail_of(market: Marketplace, address, subject):
    async def probe():
        return next((mail for mail in await market.messages(address, "email") if subject in str(mail)), None)

    return await market.until(f"mail: {subject}", probe, 60)


async def reference_of(market: Marketplace, users: Users, order_id: str) -> str:
    payments = await market.get("/api/payments", users.auditor, params={"limit": 100})
    return next(line["reference"] for line in payments if line["orderId"] == order_id and line["status"] == "paid")


async def dispute_charge(market: Marketplace, reference: str) -> int:
    response = await market.sandbox.post(f"/control/charges/{reference}/dispute")
    return int(response.raise_for_status().json()["id"])


async def decide_dispute(market: Marketplace, dispute_id: int, act: str) -> None:
    (await market.sandbox.post(f"/control/disputes/{dispute_id}/{act}")).raise_for_status()


async def types_of(market: Marketplace, users: Users, order_id: str) -> list[str]:
    lines = await market.get("/api/transactions", users.auditor, params={"orderId": order_id, "limit": 100})
    return sorted(line["type"] for line in lines)


async def status_and_code(market: Marketplace, user, method: str, path: str, **arguments) -> tuple[int, str]:
    response = await market.http.request(method, path, headers=user.headers, **arguments)
    return response.status_code, response.json().get("code", "")


async def refund_reaches(market: Marketplace, users: Users, refund_id: str, status: str):
    async def probe():
        refund = await market.get(f"/api/refunds/{refund_id}", users.auditor)
        return refund if refund["status"] == status else None

    return await market.until(f"the refund to be {status}", probe, 60)


async def dispute_order(market: Marketplace, user, order):
    return await market.http.post(f"/api/orders/{order['id']}/dispute", json=COMPLAINT, headers=user.headers)


async def release(market: Marketplace, users: Users, order, amount_minor):
    body = {"amountMinor": amount_minor}
    return await market.http.post(f"/api/orders/{order['id']}/release", json=body, headers=users.checker.headers)


async def frozen(market: Marketplace, users: Users, order):
    """Payments has consumed the dispute: nothing is released now."""

    async def probe():
        response = await release(market, users, order, order["totalMinor"] + 1)
        return response if response.status_code == 423 else None

    response = await market.until("the freeze", probe, 60)
    assert response.json()["code"] == "ESCROW_LOCKED"


async def ledgers_agree(system: System, market: Marketplace):
    """Every invariant of the audit holds, once what is under way has arrived."""
    found: list[object] = []

    async def probe():
        found[:] = await findings_of(system.secrets, market.sandbox)
        return True if not found else None

    try:
        await market.until("the ledgers to agree", probe, 60)
    except TimeoutError:
        assert found == []


async def refunded_at_the_gateway(market: Marketplace, users: Users, order, refunded_minor, *refund_ids):
    """Check that the order shows the refunds, the gateway has sent them, and the ledger has settled them."""

    async def posted():
        shown = await market.order(users.buyer, order["id"])
        return shown if shown["refundedMinor"] == refunded_minor else None

    async def settled():
        lines = await market.get("/api/transactions", users.auditor, params={"limit": 100})
        paid = {
            entry["account"]
            for line in lines
            if line["type"] == "refund_settled"
            for entry in line["entries"]
            if entry["amountMinor"] > 0
        }
        return True if {f"refund_payable:{refund_id}" for refund_id in refund_ids} <= paid else None

    shown = await market.until("the refund to be posted", posted, 60)
    await market.until("the gateway to pay the refund out", settled, 60)
    return shown


def signed(system: System, body: bytes) -> dict[str, str]:
    key = system.secrets["GATEWAY_SECRET_KEY"].encode()
    return {"x-gateway-signature": hmac.new(key, body, hashlib.sha512).hexdigest(), "Content-Type": "application/json"}


def charge_success(reference: str, amount_minor: int, event_id: int, currency: str = "NGN", **metadata) -> bytes:
    content = {
        "id": event_id, "domain": "test", "status": "success", "reference": reference, "amount": amount_minor,
        "currency": currency,
        "gateway_response": "Approved", "paid_at": "2026-01-01T00:00:00.000Z", "created_at": "2026-01-01T00:00:00.000Z",
        "channel": "card",
        "authorization": {}, "customer": {"id": 1, "email": "x@example.com"}, "metadata": metadata or 0,
    }  # fmt: skip
    return json.dumps({"event": "charge.success", "data": content}).encode()


async def quarantined(market: Marketplace, users: Users, reference: str):
    async def probe():
        charges = await market.get("/api/quarantined-charges", users.auditor, params={"limit": 100})
        return next((charge for charge in charges if charge["reference"] == reference), None)

    return await market.until("the quarantine", probe, 60)


async def rows_with(system: System, pattern: str) -> list[str]:
    """Its table and row in a database."""
    found = []
    for service in SERVICES:
        address = system.servers.postgresql.url.rsplit("/", 1)[0] + f"/{service.database}"
        connection = await asyncpg.connect(address)
        try:
            for (table,) in await connection.fetch(TABLES):
                rows = await connection.fetch(ROWS.format(table=table), pattern)
                found += [f"{service.database}.{table}: {row[0]}" for row in rows]
        finally:
            await connection.close()
    return found


async def insert_dead_webhook(system: System, webhook_id: str) -> str:
    """Write down that a webhook was tried in vain, as the ladder's last step does; the id of its dead letter."""
    letter_id = uuid4()
    url = urlsplit(system.secrets["DATABASE_URL"])._replace(path="/campus_payments").geturl()
    connection = await asyncpg.connect(url)

    async def worked_on() -> bool:
        done = "SELECT outcome = 'ignored' FROM processed_webhook_events WHERE id = $1"
        return bool(await connection.fetchval(done, webhook_id))

    try:
        # The worker's run is over: it writes nothing after the rows below.
        await eventually(worked_on)
        await connection.execute("UPDATE processed_webhook_events SET outcome = 'dead' WHERE id = $1", webhook_id)
        await connection.execute(
            (
                "INSERT INTO dead_letter_webhooks (id, webhook_id, event_type, error, attempts) VALUES ($1, $2, "
                "'unheard.of', 'a test', 6)"
            ),
            letter_id,
            webhook_id,
        )
    finally:
        await connection.close()
    return str(letter_id)


async def move_transfer(market: Marketplace, reference: str, move: str) -> None:
    assert (await market.sandbox.post(f"/control/transfers/{reference}/{move}", json={})).is_success


async def exception_of(market: Marketplace, users: Users, payout_id: str):
    async def probe():
        return (await market.get(f"/api/payouts/{payout_id}", users.auditor))["openException"]

    return await market.until("the exception opens", probe, 60)


@dataclass(frozen=True)
class Newcomer:
    """A student of one test alone."""

    id: str
    email: str


async def newcomer(market: Marketplace) -> Newcomer:
    number = f"{uuid4().int % 10**7:07}"
    email = f"steward{number}@unilag.edu.ng"
    signed_in = await market.sign_up(email, "Ngozi Eze", f"+234805{number}")
    return Newcomer((await market.get("/api/profiles/current", signed_in))["id"], email)


async def stepped_up(market: Marketplace, email: str) -> SignedInUser:
    """Signed in with a second factor that is enrolled here."""
    signed_in = await market.sign_in(email)
    secret = (await market.post("/api/auth/mfa/enroll", {}, signed_in))["secret"]
    tokens = await market.post("/api/auth/mfa/verify", {"code": pyotp.TOTP(secret).now()}, signed_in)
    return SignedInUser(email, tokens["accessToken"], tokens["refreshToken"])
