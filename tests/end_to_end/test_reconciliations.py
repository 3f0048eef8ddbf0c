"""A payout that the bank returned, and one that it rejected, through the whole system (sections 8 and 14)."""

from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.steps import delivered_order, exception_of, move_transfer, status_and_code

from .conftest import Users


@pytest.fixture
async def submitted(system: System, market: Marketplace, users: Users):
    """Yield a payout of the vendor's that waits at the gateway until the test sets the bank's result."""
    # Nothing of an earlier test is on its way to the wallet now.
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
    before = (await market.get("/api/wallets/current", users.vendor))["availableMinor"]
    await delivered_order(market, users)

    async def grown():
        wallet = await market.get("/api/wallets/current", users.vendor)
        return wallet if wallet["availableMinor"] > before else None

    wallet = await market.until("the wallet grows", grown, 60)
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    payout = await market.request_payout(users.vendor, 40_000)
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    assert batch["submitted"] == 1, batch
    yield payout["id"], batch["transfers"][0]["reference"], wallet["availableMinor"]
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})


async def test_a_reversed_payout_is_the_wallets_again_when_a_second_user_approves(
    system: System, market: Marketplace, users: Users, submitted
) -> None:
    payout_id, reference, before = submitted
    await move_transfer(market, reference, "succeed")
    await market.payout_reaches(users.vendor, payout_id, "processed")
    await move_transfer(market, reference, "reverse")
    assert (await exception_of(market, users, payout_id))["cause"] == "reversed"

    path = f"/api/payouts/{payout_id}/reconciliations"
    prepared = await market.post(path, {"reason": "the bank sent it back"}, users.maker, key=uuid4())
    assert (prepared["kind"], prepared["status"], prepared["decidedBy"]) == ("reversal", "prepared", None)
    one = f"/api/reconciliations/{prepared['id']}"
    assert await status_and_code(market, users.maker, "POST", f"{one}/approve", json={}) == (403, "AUTH_FORBIDDEN")
    again = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
    assert await status_and_code(market, again, "POST", f"{one}/approve", json={}) == (403, "AUTH_FORBIDDEN")
    assert await status_and_code(market, users.vendor, "GET", one) == (403, "AUTH_FORBIDDEN")

    approved = await market.post(f"{one}/approve", {"hash": prepared["hash"]}, users.checker, key=uuid4())
    assert (approved["status"], approved["hash"]) == ("approved", prepared["hash"])
    assert approved["decidedBy"] != approved["preparedBy"]
    payout = await market.get(f"/api/payouts/{payout_id}", users.vendor)
    assert (payout["status"], payout["openException"]) == ("processed", None)
    assert (await market.get("/api/wallets/current", users.vendor))["availableMinor"] == before
    newest = (await market.get("/api/wallets/current/statement", users.vendor))[0]
    assert (newest["kind"], newest["netMinor"], newest["balanceMinor"]) == ("reversal", 40_000, before)
    assert [
        row["id"] for row in await market.get("/api/reconciliations", users.auditor, params={"payoutId": payout_id})
    ] == [prepared["id"]]
    assert await findings_of(system.secrets, market.sandbox) == []


async def test_a_payout_that_the_bank_did_not_accept_is_sent_again_by_itself_and_arrives(
    system: System, market: Marketplace, users: Users, submitted
) -> None:
    payout_id, reference, before = submitted
    await move_transfer(market, reference, "fail")
    await exception_of(market, users, payout_id)
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})
    path = f"/api/payouts/{payout_id}/reset"
    assert await status_and_code(market, users.maker, "POST", path, json={"reason": "x"}) == (403, "AUTH_FORBIDDEN")
    payout = await market.post(path, {"reason": "the bank's switch was down"}, users.ops, key=uuid4())
    assert (payout["status"], payout["retryCount"]) == ("pending", 1)
    assert await status_and_code(market, users.ops, "POST", path, json={"reason": "again"}) == (
        409,
        "CONCURRENCY_CONFLICT",
    )

    processed = await market.payout_reaches(users.vendor, payout_id, "processed")
    assert processed["transfer"]["reference"] != reference
    assert (processed["transfer"]["attempt"], processed["openException"]) == (2, None)
    assert (await market.get("/api/wallets/current", users.vendor))["availableMinor"] == before - 40_000
    assert await findings_of(system.secrets, market.sandbox) == []
