"""A refund that failed is sent to a bank account, as two people decide; a dispute is resolved with finance."""

from typing import Any

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.console.amounts import balances_around, check_amounts
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import paid_order, placed_order, refund_reaches


async def failed_refund(market: Marketplace, users: Users) -> dict[str, Any]:
    """Return a refund that the gateway cannot send to the buyer's card."""
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    fault = {"fail": "The card is closed", "times": 1, "match": intent["reference"]}
    await market.sandbox.put("/control/faults", json={"refund_call": fault})
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "the vendor is ill"}, users.support)

    async def failed() -> dict[str, Any] | None:
        params = {"orderId": order["id"], "status": "failed"}
        found = await market.get("/api/refunds", users.auditor, params=params)
        return found[0] if found else None

    return await market.until("the refund to fail", failed, 60)


async def test_a_failed_refund_is_sent_to_a_bank_account_by_two_users(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    refund = await failed_refund(market, users)
    account = {"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Okafor"}
    await market.sandbox.put("/control/accounts", json=account)
    path = f"/refunds/{refund['id']}"
    maker = await visitor("maker")
    await maker.open(path)
    assert "The card is closed" in await maker.text()
    await maker.open_section("Prepare: send it to a bank account…")
    form = maker.page.get_by_role("form", name="Prepare: send it to a bank account…")
    for label, text in (
        ("Account number", "0123456789"),
        ("Name of the account's owner", "Chidi Okafor"),
        ("Reason", "the card is closed"),
    ):
        await form.get_by_label(label, exact=True).fill(text)
    await form.get_by_label("Bank", exact=True).select_option(label="Guaranty Trust Bank")
    await maker.click("Prepare for this account")
    assert "Another person approves it" in await maker.notice()
    checker = await visitor("checker")
    await checker.open(path)
    text = await checker.text()
    for shown in ("…6789 at Guaranty Trust Bank", "Chidi Okafor", "refund payable", "gateway cash"):
        assert shown in text
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "is sent again" in await checker.notice()
    await refund_reaches(market, users, refund["id"], "settled")
    await market.order_reaches(users.buyer, refund["orderId"], "refunded")
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_a_checker_resolves_a_dispute_with_the_escrow_in_view(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    complaint = {"reason": "<b>wrong</b> item", "details": "<script>alert(1)</script>"}
    await market.post(f"/api/orders/{order['id']}/dispute", complaint, users.buyer)
    half = order["totalMinor"] // 2
    resolution = await market.post(
        f"/api/orders/{order['id']}/resolve", {"outcome": "split", "refundMinor": half}, users.support
    )
    checker = await visitor("checker")
    await checker.open(f"/dispute-resolutions/{resolution['resolutionId']}")
    text = await checker.text()
    # The maker is named.
    escrow = f"escrow {order['number']}"
    for shown in ("<b>wrong</b> item", "<script>alert(1)</script>", escrow, "vendor payable", "Sade Cole"):
        assert shown in text
    path = f"/api/orders/{order['id']}/resolution-plan"
    plan = await market.get(path, users.checker, params={"refundMinor": half})
    balance = await market.get("/api/ledger/accounts", users.checker, params={"account": f"escrow:{order['id']}"})
    sums = {order["totalMinor"] - half, *balances_around(plan["entries"])}
    await check_amounts(checker, plan, balance, sums=sums)
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "The dispute is resolved" in await checker.notice()
    resolved = await market.get(f"/api/dispute-resolutions/{resolution['resolutionId']}", users.checker)
    assert (resolved["refundMinor"], resolved["releaseMinor"]) == (half, order["totalMinor"] - half)
    await checker.check_page()
