"""A payout whose account the bank refuses: exception, page, mail, classification, and the gateway's last word
(section 8).
"""

import pytest_asyncio

from operations.journey import Marketplace
from tests.end_to_end.steps import open_shop

from .conftest import Users

AMOUNT_MINOR = 50_000
FINDING = {"severity": "SEV-1", "cause": "bank_switch_error", "note": "The bank says that its switch was down."}


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Marketplace, users: Users):
    """Return a vendor without rejected transfers, with an existing bank account."""
    shop = await open_shop(market, users)
    status, response = await shop.set_account(market, shop.accounts[0])
    assert status == 200, response
    assert response["data"]["verified"], response
    return shop


@pytest_asyncio.fixture(loop_scope="session")
async def refused(market: Marketplace, users: Users, shop):
    """Yield a payout on its way, which the bank then refuses; its exception."""
    before = (await market.sandbox.get("/control/settings")).json()["transfer_settlement"]
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    try:
        payout = await market.request_payout(shop.owner, AMOUNT_MINOR)
        [transfer] = (await market.dispatch_payouts(users.maker, [payout["id"]]))["transfers"]
        await move(market, transfer["reference"], "fail", reason="Account number is invalid")

        async def opened():
            found = await market.get("/api/payout-exceptions", users.ops, params={"payoutId": payout["id"]})
            return found[0] if found else None

        yield await market.until("the exception", opened, 60), transfer["reference"]
    finally:
        await market.sandbox.put("/control/settings", json={"transfer_settlement": before})


async def move(market: Marketplace, reference, act, **why):
    (await market.sandbox.post(f"/control/transfers/{reference}/{act}", json=why)).raise_for_status()


async def act(market: Marketplace, exception, verb, user, **body):
    path = f"/api/payout-exceptions/{exception['id']}/{verb}"
    return await market.http.post(path, json=body, headers=user.headers)


async def test_a_rejected_account_alerts_all_concerned_and_ends_by_the_gateways_report(
    market: Marketplace, users: Users, shop, refused
) -> None:
    exception, reference = refused
    assert (exception["cause"], exception["severity"], exception["status"]) == (
        "account_number_invalid",
        "SEV-3",
        "open",
    )
    payout_id, key = exception["payoutId"], f"payout-exception:{exception['id']}"
    payout = await market.get(f"/api/payouts/{payout_id}", shop.owner)
    assert (payout["status"], payout["openException"]["id"]) == ("pending", exception["id"])

    async def page(severity, *, over=False):
        paged = [message["payload"] for message in await market.messages("on-call", "on_call")]
        mine = [page for page in paged if page["labels"]["dedup_key"] == key]
        return next((one for one in mine if one["labels"]["severity"] == severity and ("endsAt" in one) is over), None)

    assert (await market.until("the page", lambda: page("SEV-3"), 60))["annotations"]["subject"] == payout_id

    async def mail():
        number = (await market.get(f"/api/payouts/{payout_id}", users.auditor))["number"]
        mails = await market.messages(shop.owner.email, "email")
        return [one for one in mails if number in one["text"] and "delayed" in one["subject"]] or None

    [sent] = await market.until("the mail", mail, 60)
    assert "check them on your bank details page" in sent["text"]

    held = await act(market, exception, "close", users.ops, evidence="It looks fine.")
    assert (held.status_code, held.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert (await act(market, exception, "classify", users.auditor, **FINDING)).status_code == 403
    classified = await act(market, exception, "classify", users.maker, **FINDING)
    assert classified.status_code == 200, classified.text
    assert classified.json()["data"]["severity"] == "SEV-1"
    assert await market.until("the graver page", lambda: page("SEV-1"), 60)

    # The bank was wrong: the gateway now reports success, and a query confirms it.
    await move(market, reference, "succeed")
    await market.payout_reaches(shop.owner, payout_id, "processed")
    shown = await market.get(f"/api/payout-exceptions/{exception['id']}", users.ops)
    assert (shown["status"], shown["transfer"]["reference"]) == ("closed", reference)
    kinds = [line["kind"] for line in shown["acts"]]
    assert (kinds[0], kinds[-1]) == ("classified", "closed")
    again = await act(market, exception, "close", users.ops, evidence="It looks fine.")
    assert (again.status_code, again.json()["data"]) == (200, shown)
    assert (await act(market, exception, "classify", users.ops, **FINDING)).status_code == 409
    assert await market.until("the word that it is over", lambda: page("SEV-1", over=True), 60)

    async def listed():
        alerts = await market.get("/api/alerts", users.ops, params={"status": "closed", "limit": 100})
        return next((alert for alert in alerts if alert["subject"] == payout_id), None)

    assert (await market.until("the closed alert", listed, 60))["closedAt"] is not None
    assert len(await mail()) == 1


async def test_failures_above_five_percent_raise_an_alert(market: Marketplace, users: Users, shop, refused) -> None:
    exception, reference = refused
    seen = await market.get("/api/payout-exceptions/observations", users.auditor)
    assert seen["windowSeconds"] == 3600
    assert seen["failures"] == sum(seen["bySeverity"].values()) == sum(seen["byCause"].values()) >= 1
    assert seen["byCause"][exception["cause"]] >= 1
    assert seen["failureRate"] == seen["failures"] / seen["attempts"] > 0.05
    assert seen["alerting"] is True

    async def raised():
        paged = [message["payload"] for message in await market.messages("on-call", "on_call")]
        return next((page for page in paged if page["labels"]["dedup_key"] == "payout-failure-rate"), None)

    assert (await market.until("the page", raised, 60))["labels"]["severity"] == "SEV-2"
    rejected = await market.http.get("/api/payout-exceptions/observations", headers=users.buyer.headers)
    assert rejected.status_code == 403
    await move(market, reference, "succeed")
    await market.payout_reaches(shop.owner, exception["payoutId"], "processed")
