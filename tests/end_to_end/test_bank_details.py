"""A vendor changes the account, finance stops it, and what was not sent is the wallet's again, through the gateway
(section 8).
"""

import pytest_asyncio

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.steps import mail_of, open_shop

from .conftest import Users


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Marketplace, users: Users):
    return await open_shop(market, users)


async def test_a_changed_account_is_notified_by_mail_and_delays_its_payouts(
    market: Marketplace, users: Users, shop
) -> None:
    first, second, _ = shop.accounts
    at_aal1 = (await market.sign_in(shop.owner.email)).headers
    body = {"accountNumber": first, "bankCode": "058"}
    refused = await market.http.put(shop.path, json=body, headers=at_aal1)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    for account_number in (first, second):
        status, response = await shop.set_account(market, account_number)
        assert status == 200, response
        assert response["data"]["verified"], response
        mail = str(await mail_of(market, shop.owner.email, account_number[-4:]))
        assert account_number not in mail
    assert response["data"]["payoutsFrom"] > response["data"]["updatedAt"]
    payout = await market.request_payout(shop.owner, 100_000)
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    assert batch["skipped"] == [{"payoutId": payout["id"], "reason": "bank_details_cooling"}]
    history = await market.get(f"{shop.path}/history", users.auditor)
    assert [change["accountLast4"] for change in history] == [second[-4:], first[-4:]]
    assert len({change["changedBy"] for change in history}) == 1


async def test_a_quarantine_gives_a_waiting_payout_back_and_another_account_ends_it(
    system: System, market: Marketplace, users: Users, shop
) -> None:
    status, response = await shop.set_account(market, shop.accounts[1])
    assert (status, response["data"]["verified"]) == (200, True)
    before_minor = (await market.wallet(shop.owner))["availableMinor"]
    payout = await market.request_payout(shop.owner, 50_000)
    body = {"reason": "The bank reports another name", "payoutId": payout["id"]}
    path = f"{shop.path}/quarantine"
    refused = await market.http.post(path, json=body, headers=users.checker.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    stopped = await market.post(path, body, users.maker)
    assert (stopped["verified"], stopped["quarantined"]) == (False, True)
    assert stopped["payout"] == {"id": payout["id"], "status": "failed", "restitution": "done"}
    assert (await market.wallet(shop.owner))["availableMinor"] == before_minor
    assert (await market.get(f"/api/payouts/{payout['id']}", users.auditor))["status"] == "failed"
    assert "another name" in str(await mail_of(market, shop.owner.email, "The bank reports another name"))
    denied = await market.http.post("/api/payouts", json={"amountMinor": 1_000}, headers=shop.owner.headers)
    assert denied.status_code == 409
    status, problem = await shop.set_account(market, shop.accounts[1])
    assert (status, "quarantined" in problem["detail"]) == (409, True)
    status, response = await shop.set_account(market, shop.accounts[2])
    assert (status, response["data"]["verified"], response["data"]["quarantined"]) == (200, True, False)
    assert await findings_of(system.secrets, market.sandbox) == []
