"""Four-eyes decisions: quarantined charges and failed refunds, through the whole system (section 7)."""

import asyncio

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.steps import placed_order, quarantined, refund_reaches, status_and_code

from .conftest import Users

ACCOUNT = {"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Okafor"}


async def returned(market: Marketplace, users: Users, charge) -> str:
    """Return the refund of a charge that maker and checker return."""
    path = f"/api/quarantined-charges/{charge['id']}"
    prepared = await market.post(f"{path}/prepare", {"outcome": "return", "reason": "does not pay"}, users.maker)
    assert prepared["status"] == "prepared"
    assert await status_and_code(market, users.maker, "POST", f"{path}/approve", json={}) == (403, "AUTH_FORBIDDEN")
    assert await status_and_code(market, users.buyer, "GET", path) == (403, "AUTH_FORBIDDEN")
    read = await market.get(path, users.checker)
    assert read["hash"] == prepared["hash"]
    other = await status_and_code(market, users.checker, "POST", f"{path}/approve", json={"hash": "0" * 64})
    assert other == (409, "CONCURRENCY_CONFLICT")
    approved = await market.post(f"{path}/approve", {"hash": read["hash"]}, users.checker)
    decision = approved["decision"]
    assert (approved["status"], decision["status"]) == ("returned", "approved")
    assert decision["decidedBy"] != decision["preparedBy"] == prepared["decision"]["preparedBy"]
    return str(approved["refundId"])


async def test_a_foreign_and_a_short_payment_go_back_as_two_users_decided(
    system: System, market: Marketplace, users: Users
) -> None:
    for overrides in ({"currency": "GHS"}, {"amount": 5_000}):
        order = await placed_order(market, users)
        intent = await market.pay_intent(users.buyer, order["id"])
        await market.pay(intent, **overrides)
        charge = await quarantined(market, users, intent["reference"])
        refund_id = await returned(market, users, charge)
        refund = await refund_reaches(market, users, refund_id, "settled")
        assert (refund["kind"], refund["orderId"], refund["amountMinor"]) == (
            "quarantine",
            order["id"],
            charge["amountMinor"],
        )
        assert (await market.order(users.buyer, order["id"]))["status"] == "Processing"
    assert await findings_of(system.secrets, market.sandbox) == []


async def test_a_short_payment_cannot_be_accepted_for_its_order(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=order["totalMinor"] - 1)
    charge = await quarantined(market, users, intent["reference"])
    path = f"/api/quarantined-charges/{charge['id']}"
    accept = {"outcome": "accept", "reason": "one kobo only"}
    refused = await status_and_code(market, users.maker, "POST", f"{path}/prepare", json=accept)
    assert refused == (409, "CONCURRENCY_CONFLICT")
    assert (await market.get(path, users.auditor))["status"] == "quarantined"


async def test_a_failed_refund_is_sent_to_another_destination_and_updates_the_order(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    # A refund of another test may still be on its way.
    fault = {"fail": "The card is closed", "times": 1, "match": intent["reference"]}
    await market.sandbox.put("/control/faults", json={"refund_call": fault})
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "the vendor is ill"}, users.support)

    async def probe():
        failed = await market.get("/api/refunds", users.auditor, params={"orderId": order["id"], "status": "failed"})
        return failed[0] if failed else None

    refund = await market.until("the refund to fail", probe, 60)
    await market.sandbox.put("/control/accounts", json=ACCOUNT)
    path = f"/api/refunds/{refund['id']}"
    destination = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
    elsewhere = {"action": "other_destination", "destination": destination, "reason": "the card is closed"}
    prepared = await market.post(f"{path}/prepare", elsewhere, users.maker)
    assert (prepared["status"], prepared["decision"]["destination"]["last4"]) == ("prepared", "6789")
    assert await status_and_code(market, users.maker, "POST", f"{path}/approve", json={}) == (403, "AUTH_FORBIDDEN")
    responses = await asyncio.gather(
        *(
            status_and_code(market, users.checker, "POST", f"{path}/approve", json={"hash": prepared["hash"]})
            for _ in range(3)
        )
    )
    assert responses == [(200, "")] * 3
    await refund_reaches(market, users, refund["id"], "settled")
    await market.order_reaches(users.buyer, order["id"], "refunded")
    assert await findings_of(system.secrets, market.sandbox) == []
