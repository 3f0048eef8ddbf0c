"""The journey with Flutterwave as the gateway of new payments and transfers, with a payment that started at
Paystack.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import (
    COMPLAINT,
    decide_dispute,
    dispute_charge,
    exception_of,
    move_transfer,
    placed_order,
    reference_of,
    types_of,
)
from tests.running_system import restart_processes

pytestmark = pytest.mark.long

PAYOUT_MINOR = 40_000
SETTINGS = {"GATEWAY_PROVIDER": "flutterwave", "PAYOUT_RETRY_SECONDS": "0.5"}
CALLS_A_GATEWAY = ("payments-api", "payments-worker", "payouts-api", "payouts-worker")


async def users_of(market: Marketplace) -> Users:
    buyer = await market.sign_in("buyer@unilag.edu.ng")
    roles = {
        "vendor": ("vendor@unilag.edu.ng", "VENDOR"),
        "maker": ("maker@campus.example", "MAKER"),
        "checker": ("checker@campus.example", "CHECKER"),
        "auditor": ("auditor@campus.example", "AUDITOR"),
        "ops": ("ops@campus.example", "OPS"),
        "support": ("support@campus.example", "SUPPORT"),
        "campus": ("campus@campus.example", "CAMPUS"),
        "admin": ("admin@campus.example", "ADMIN"),
    }
    staff: dict[str, Any] = {name: await market.sign_in_with_two_factors(*who) for name, who in roles.items()}
    return Users(buyer=buyer, other_buyer=buyer, other_vendor=staff["vendor"], hub=staff["ops"], **staff)


async def paid(market: Marketplace, users: Users) -> dict[str, Any]:
    order = await placed_order(market, users)
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    return await market.order_reaches(users.buyer, order["id"], "paid_escrow")


async def submitted(market: Marketplace, users: Users) -> tuple[str, str]:
    """Return a payout that waits at the gateway, and its reference."""
    payout = await market.request_payout(users.vendor, PAYOUT_MINOR)
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    assert batch["submitted"] == 1, batch
    return str(payout["id"]), str(batch["transfers"][0]["reference"])


async def flutterwave(market: Marketplace, path: str, **params: str) -> Any:
    headers = {"Authorization": f"Bearer {market.secrets['FLUTTERWAVE_SECRET_KEY']}"}
    response = await market.sandbox.get(f"/flutterwave/v3/{path}", params=params, headers=headers)
    return response.raise_for_status().json()["data"]


@asynccontextmanager
async def new_payments_at_flutterwave(system: System, market: Marketplace) -> AsyncIterator[None]:
    """Restart the processes that call a gateway with Flutterwave, and at the end with Paystack again."""
    before = (await market.sandbox.get("/control/settings")).json()
    await asyncio.to_thread(restart_processes, system, CALLS_A_GATEWAY, SETTINGS)
    try:
        yield
    finally:
        (await market.sandbox.put("/control/settings", json=before)).raise_for_status()
        await asyncio.to_thread(restart_processes, system, CALLS_A_GATEWAY, dict.fromkeys(SETTINGS))


@pytest.mark.usefixtures("unused_codes")
async def test_the_journey_runs_with_flutterwave_and_a_payment_of_paystack(system: System, market: Marketplace) -> None:
    users = await users_of(market)
    first = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, first["id"])
    async with new_payments_at_flutterwave(system, market):
        await market.pay(intent)
        await market.order_reaches(users.buyer, first["id"], "paid_escrow")
        await _purchases(market, users)
        await _payouts(market, users)
        assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def _purchases(market: Marketplace, users: Users) -> None:
    """Return a delivered order, a refund and a lost chargeback, all of payments at Flutterwave."""
    delivered, disputed, charged_back = [await paid(market, users) for _ in range(3)]
    await market.dispatch(users.vendor, delivered["id"])
    pin = await market.delivery_pin(users.buyer, delivered["id"])
    await market.verify_delivery(users.vendor, delivered["id"], pin)
    await market.order_reaches(users.buyer, delivered["id"], "paid")

    await market.post(f"/api/orders/{disputed['id']}/dispute", COMPLAINT, users.buyer)
    resolution = await market.post(f"/api/orders/{disputed['id']}/resolve", {"outcome": "buyer"}, users.support)
    path, read = f"/api/dispute-resolutions/{resolution['resolutionId']}", {"hash": resolution["hash"]}
    await market.post(f"{path}/approve", read, users.checker)
    await market.order_reaches(users.buyer, disputed["id"], "refunded")

    async def refunded() -> int | None:
        refunds = await flutterwave(market, "refunds")
        return sum(round(row["amount_refunded"] * 100) for row in refunds if row["status"] != "completed") or None

    assert await market.until("the refund at the gateway", refunded, 60) == disputed["totalMinor"]

    dispute_id = await dispute_charge(market, await reference_of(market, users, charged_back["id"]))
    await market.order_reaches(users.buyer, charged_back["id"], "disputed")
    await decide_dispute(market, dispute_id, "lose")

    async def posted() -> bool | None:
        return "chargeback" in await types_of(market, users, charged_back["id"]) or None

    await market.until("the chargeback in the ledger", posted, 60)


async def _payouts(market: Marketplace, users: Users) -> None:
    """Run a payout that arrives, one that fails and is sent again, and one that the bank returns."""
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual", "transfer_fees": "standard"})
    arrived, reference = await submitted(market, users)
    await move_transfer(market, reference, "succeed")
    await market.payout_reaches(users.vendor, arrived, "processed")
    assert [row["status"] for row in await flutterwave(market, "transfers", reference=reference)] == ["SUCCESSFUL"]

    failed, reference = await submitted(market, users)
    await move_transfer(market, reference, "fail")
    assert (await exception_of(market, users, failed))["cause"] != "unclassified"
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})
    await market.post(f"/api/payouts/{failed}/reset", {"reason": "the switch was down"}, users.ops, key=uuid4())
    await market.payout_reaches(users.vendor, failed, "processed")

    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    returned, reference = await submitted(market, users)
    await move_transfer(market, reference, "succeed")
    await market.payout_reaches(users.vendor, returned, "processed")
    await move_transfer(market, reference, "reverse")
    assert (await exception_of(market, users, returned))["cause"] == "reversed"
    path, reason = f"/api/payouts/{returned}/reconciliations", {"reason": "the bank sent it back"}
    prepared = await market.post(path, reason, users.maker, key=uuid4())
    assert prepared["kind"] == "reversal"
    read = {"hash": prepared["hash"]}
    await market.post(f"/api/reconciliations/{prepared['id']}/approve", read, users.checker, key=uuid4())
    assert (await market.get(f"/api/payouts/{returned}", users.vendor))["openException"] is None
