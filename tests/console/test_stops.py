"""Staff on call stop checkout and let it run again; finance holds one payout."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest_asyncio

from operations.journey import Marketplace
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import a_product, delivered_order


@pytest_asyncio.fixture(loop_scope="session")
async def running_again(market: Marketplace, users: Users) -> AsyncIterator[None]:
    """Lift the stop when the test failed before it did: other tests check out too."""
    yield
    if (await market.get("/api/stops/checkout", users.auditor))["current"] is not None:
        await market.post("/api/stops/checkout/lift", {"reason": "the test ended"}, users.ops)


async def test_checkout_is_stopped_with_a_sentence_for_buyers(
    visitor: Arrival, market: Marketplace, users: Users, running_again: None
) -> None:
    ops = await visitor("ops")
    await ops.open("/stops")
    await ops.check_page()
    await ops.page.locator("section", has_text="Checkout").locator("summary", has_text="Stop it").first.click()
    form = ops.page.locator("form[action='/stops/checkout']")
    await form.get_by_label("Reason for staff").fill("The gateway charges twice.")
    await form.get_by_label("Sentence for everyone").fill("Checkout pauses for an hour.")
    await form.get_by_role("button", name="Stop").click()
    assert "Checkout is stopped" in await ops.notice()
    await ops.check_page()
    product = await a_product(market)
    body = {"items": [{"productId": product["id"], "quantity": 1}]}
    refused = await market.http.post(
        "/api/purchases", json=body, headers={**users.buyer.headers, "Idempotency-Key": str(uuid4())}
    )
    assert (refused.status_code, refused.json()["detail"]) == (503, "Checkout pauses for an hour.")
    support = await visitor("support")
    await support.open("/")
    assert "Checkout is stopped until" in await support.text()
    await ops.open("/stops")
    await ops.open_section("Let it run again…")
    await ops.fill("Reason", "The gateway repaired it.")
    await ops.click("Let it run again")
    assert "Checkout runs again" in await ops.notice()
    assert "The gateway repaired it." in await ops.text()
    await ops.check_page()


async def test_one_payout_is_held_and_released(visitor: Arrival, market: Marketplace, users: Users) -> None:
    before = (await market.wallet(users.vendor))["availableMinor"]
    await delivered_order(market, users)
    await market.wallet_reaches(users.vendor, before + 1)
    payout = await market.request_payout(users.vendor, 10_000)
    maker, vendor = await visitor("maker"), await visitor("vendor")
    path = f"/payouts/{payout['id']}"
    await maker.open(path)
    await maker.open_section("Hold this payout…")
    await maker.fill("Reason", "The bank asked for a document.")
    await maker.click("Hold")
    assert "The payout is held" in await maker.notice()
    await maker.check_page()
    await vendor.open(f"/wallet{path}")
    assert "The bank asked for a document." in await vendor.text()
    assert "Cancel the payout" not in await vendor.text()
    await vendor.check_page()
    await maker.open("/settlements")
    await maker.check_page()
    await maker.open("/payouts/run")
    assert payout["number"] not in await maker.text()
    await maker.open(path)
    await maker.open_section("Release this payout…")
    await maker.fill("Reason", "The document came.")
    await maker.click("Release")
    assert "The payout is released" in await maker.notice()
    await maker.open("/payouts/run")
    assert payout["number"] in await maker.text()
