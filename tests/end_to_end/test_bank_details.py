"""A vendor changes the account, finance stops it, and what was not sent is the wallet's again, through the gateway (section 8)."""

from dataclasses import dataclass
from uuid import uuid4

import pyotp
import pytest_asyncio

from campus_tools.audit import findings_of
from campus_tools.journey import Marketplace, Person
from contracts.demo import LAGOS
from tests.end_to_end.conftest import People, new_address
from tests.end_to_end.test_becoming_a_vendor import mail_of

LEGAL_NAME = "Kemi Ojo Trading"
PRICE_MINOR = 1_000_000


@dataclass(frozen=True)
class Shop:
    """A vendor of this module's own, so that no other test's payouts are stopped."""

    owner: Person
    path: str
    accounts: tuple[str, str, str]

    async def set_account(self, market: Marketplace, account_number: str) -> tuple[int, dict]:
        body = {"accountNumber": account_number, "bankCode": "058"}
        answer = await market.http.put(self.path, json=body, headers=self.owner.headers)
        return answer.status_code, answer.json()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shop(system, people: People) -> Shop:
    """Signed up, approved, with a second factor, a delivered order, and three accounts that the bank knows."""
    market = Marketplace.at(system.base_url, system.sandbox_url, system.secrets)
    market.http.headers["X-Forwarded-For"] = new_address()
    try:
        address = f"kemi.{uuid4().hex[:12]}@unilag.edu.ng"
        student = await market.sign_up(address, "Kemi Ojo", f"+23480{uuid4().int % 10**8:08d}")
        application = {
            "businessName": "Kemi's Corner", "legalName": LEGAL_NAME, "campusId": str(LAGOS.id), "category": "food",
            "description": "Small chops.",
        }  # fmt: skip
        asked = await market.post("/api/vendor-applications", application, student)
        admin = await market.sign_in("campus@campus.example")
        vendor_id = (await market.post(f"/api/vendor-applications/{asked['id']}/approve", {}, admin))["vendorId"]
        owner = await market.sign_in(address)
        secret = (await market.post("/api/auth/mfa/enroll", {}, owner))["secret"]
        tokens = await market.post("/api/auth/mfa/verify", {"code": pyotp.TOTP(secret).now()}, owner)
        owner = Person(address, tokens["accessToken"], tokens["refreshToken"])
        accounts = tuple(f"{uuid4().int % 10**10:010d}" for _ in range(3))
        for account_number in accounts:
            body = {"bank_code": "058", "account_number": account_number, "account_name": LEGAL_NAME.upper()}
            assert (await market.sandbox.put("/control/accounts", json=body)).is_success

        async def product():
            body = {
                "name": "Puff puff", "description": "A dozen", "category": "food", "priceMinor": PRICE_MINOR, "stock": 9,
            }  # fmt: skip
            answer = await market.http.post("/api/products", json=body, headers=owner.headers)
            return answer.json()["data"] if answer.is_success else None

        listed = await market.until("orders knows the vendor", product, 20, every=0.3)
        order = await market.checkout(people.buyer, listed["id"])
        await market.pay(await market.pay_intent(people.buyer, order["id"]))
        await market.order_reaches(people.buyer, order["id"], "paid_escrow")
        await market.dispatch(owner, order["id"])
        await market.verify_delivery(owner, order["id"], await market.delivery_pin(people.buyer, order["id"]))
        await market.wallet_reaches(owner, 900_000)
        return Shop(owner, f"/api/vendors/{vendor_id}/bank-details", accounts)
    finally:
        await market.close()


async def test_a_changed_account_is_told_by_mail_and_its_payouts_wait(market, people, shop):
    first, second, _ = shop.accounts
    at_aal1 = (await market.sign_in(shop.owner.email)).headers
    body = {"accountNumber": first, "bankCode": "058"}
    refused = await market.http.put(shop.path, json=body, headers=at_aal1)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    for account_number in (first, second):
        status, answer = await shop.set_account(market, account_number)
        assert (status, answer["data"]["verified"]) == (200, True), answer
        mail = str(await mail_of(market, shop.owner.email, account_number[-4:]))
        assert account_number not in mail
    assert answer["data"]["payoutsFrom"] > answer["data"]["updatedAt"]
    payout = await market.request_payout(shop.owner, 100_000)
    batch = await market.dispatch_payouts(people.maker, [payout["id"]])
    assert batch["skipped"] == [{"payoutId": payout["id"], "reason": "bank_details_cooling"}]
    history = await market.get(f"{shop.path}/history", people.auditor)
    assert [change["accountLast4"] for change in history] == [second[-4:], first[-4:]]
    assert len({change["changedBy"] for change in history}) == 1


async def test_a_quarantine_gives_a_waiting_payout_back_and_another_account_ends_it(system, market, people, shop):
    status, answer = await shop.set_account(market, shop.accounts[1])
    assert (status, answer["data"]["verified"]) == (200, True)
    before_minor = (await market.wallet(shop.owner))["availableMinor"]
    payout = await market.request_payout(shop.owner, 50_000)
    body = {"reason": "The bank reports another name", "payoutId": payout["id"]}
    path = f"{shop.path}/quarantine"
    refused = await market.http.post(path, json=body, headers=people.checker.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    stopped = await market.post(path, body, people.maker)
    assert (stopped["verified"], stopped["quarantined"]) == (False, True)
    assert stopped["payout"] == {"id": payout["id"], "status": "failed", "restitution": "done"}
    assert (await market.wallet(shop.owner))["availableMinor"] == before_minor
    assert (await market.get(f"/api/payouts/{payout['id']}", people.auditor))["status"] == "failed"
    assert "another name" in str(await mail_of(market, shop.owner.email, "The bank reports another name"))
    denied = await market.http.post("/api/payouts", json={"amountMinor": 1_000}, headers=shop.owner.headers)
    assert denied.status_code == 409
    status, problem = await shop.set_account(market, shop.accounts[1])
    assert (status, "quarantined" in problem["detail"]) == (409, True)
    status, answer = await shop.set_account(market, shop.accounts[2])
    assert (status, answer["data"]["verified"], answer["data"]["quarantined"]) == (200, True, False)
    assert await findings_of(system.secrets, market.sandbox) == []
