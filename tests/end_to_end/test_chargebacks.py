"""A payer's bank requests a chargeback: frozen, held, decided, and the audit clean at the end."""

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.steps import decide_dispute, delivered_order, dispute_charge, paid_order, reference_of, types_of

from .conftest import Users


async def refunds_of(market: Marketplace, reference: str) -> list[int]:
    """Return what the gateway gave back of a charge, by its own list."""
    bearer = {"Authorization": f"Bearer {market.secrets['GATEWAY_SECRET_KEY'].split(',', 1)[0]}"}
    response = await market.sandbox.get("/gateway/refund", params={"transaction": reference}, headers=bearer)
    return [refund["id"] for refund in response.raise_for_status().json()["data"]]


async def test_a_chargeback_before_delivery_freezes_the_order_and_pays_no_refund_twice(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    reference = await reference_of(market, users, order["id"])
    dispute_id = await dispute_charge(market, reference)
    await market.order_reaches(users.buyer, order["id"], "disputed")
    await decide_dispute(market, dispute_id, "lose")

    async def charged_back():
        return "chargeback" in await types_of(market, users, order["id"]) or None

    await market.until("the chargeback in the ledger", charged_back, 60)
    resolution = await market.post(f"/api/orders/{order['id']}/resolve", {"outcome": "buyer"}, users.support)
    path, read = f"/api/dispute-resolutions/{resolution['resolutionId']}", {"hash": resolution["hash"]}
    await market.post(f"{path}/approve", read, users.checker)
    await market.order_reaches(users.buyer, order["id"], "refunded")
    assert await refunds_of(market, reference) == []
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_a_chargeback_after_the_release_is_held_in_the_wallet_and_debited_if_lost(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await delivered_order(market, users)
    # Nothing of an earlier test is on its way to the wallet now.
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []

    async def credited():
        lines = await market.get("/api/wallets/current/statement", users.vendor)
        return next((line for line in lines if line["orderId"] == order["id"]), None)

    net_minor = (await market.until("the release in the wallet", credited, 60))["netMinor"]
    before = await market.wallet(users.vendor)
    dispute_id = await dispute_charge(market, await reference_of(market, users, order["id"]))

    async def held():
        wallet = await market.wallet(users.vendor)
        return wallet if wallet["heldMinor"] == before["heldMinor"] + net_minor else None

    wallet = await market.until("the hold", held, 60)
    assert wallet["availableMinor"] == before["availableMinor"] - net_minor
    assert (await market.order(users.buyer, order["id"]))["status"] == "paid"
    await decide_dispute(market, dispute_id, "lose")

    async def recorded():
        wallet = await market.wallet(users.vendor)
        return wallet if wallet["heldMinor"] == before["heldMinor"] else None

    assert (await market.until("the loss", recorded, 60))["availableMinor"] == before["availableMinor"] - net_minor
    assert (await market.order(users.buyer, order["id"]))["status"] == "paid"
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_a_won_chargeback_gives_the_wallet_back_what_was_held(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await delivered_order(market, users)
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
    before = await market.wallet(users.vendor)
    dispute_id = await dispute_charge(market, await reference_of(market, users, order["id"]))

    async def held():
        return (await market.wallet(users.vendor))["heldMinor"] > before["heldMinor"] or None

    await market.until("the hold", held, 60)
    await decide_dispute(market, dispute_id, "win")

    async def free():
        return (await market.wallet(users.vendor))["heldMinor"] == before["heldMinor"] or None

    await market.until("the hold is free", free, 60)
    assert "chargeback" not in await types_of(market, users, order["id"])
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_finance_contests_a_chargeback_with_evidence_and_its_charge_fee_is_booked(
    system: System, market: Marketplace, users: Users
) -> None:
    (await market.sandbox.put("/control/settings", json={"charge_fees": "standard"})).raise_for_status()
    order = await paid_order(market, users)
    (await market.sandbox.put("/control/settings", json={"charge_fees": "none"})).raise_for_status()
    assert "gateway_fee" in await types_of(market, users, order["id"])
    dispute_id = await dispute_charge(market, await reference_of(market, users, order["id"]))

    async def opened():
        listed = await market.get("/api/chargebacks", users.auditor, params={"orderId": order["id"]})
        return listed[0] if listed else None

    chargeback = await market.until("the chargeback", opened, 60)
    assert chargeback["dueAt"] is not None
    path = f"/api/chargebacks/{chargeback['id']}"
    evidence = {
        "customerEmail": "ngozi@campus.example",
        "customerName": "Ngozi Bello",
        "customerPhone": "+2348012345678",
        "serviceDetails": "Two books",
    }
    contest = {"resolution": "contest", "message": "Delivered", "attachment": "JVBERi0xLjQ="}
    for action, body in (("evidence", evidence), ("resolve", contest)):
        await market.post(f"{path}/{action}", body, users.maker)

        async def submitted():
            responses = (await market.get(path, users.auditor))["responses"]
            return all(one["status"] == "submitted" for one in responses) or None

        await market.until("the response at the gateway", submitted, 60)
    await decide_dispute(market, dispute_id, "win")

    async def won():
        return (await market.get(path, users.auditor))["status"] == "won" or None

    await market.until("the decision", won, 60)
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
