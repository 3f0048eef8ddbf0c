"""Erasure: open money is reported; after it the ledger balances and names no user."""

from typing import Any
from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from contracts.identity import ErasureRequested, UserErased, VendorClosed
from testkit.events import provisioned

from .conftest import PaymentsApp

ACCOUNT = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}


async def _check_erasure(app: PaymentsApp, user_id: Any, vendor_id: Any = None) -> list[str]:
    await app.receive(ErasureRequested(user_id=user_id, request_id=new_id(), vendor_id=vendor_id))
    return list((await app.published("payments.erasure_judged.v1"))[-1].get("openMatters", []))


async def test_open_obligations_block_the_erasure_of_their_buyer_and_vendor_only(app: PaymentsApp) -> None:
    assert await _check_erasure(app, app.buyer) == []
    await app.quarantined(amount_minor=100)
    assert await _check_erasure(app, app.buyer) == ["quarantined_charges"]
    await app.paid_order()
    assert await _check_erasure(app, app.buyer) == ["escrow_held", "quarantined_charges"]
    assert await _check_erasure(app, uuid4(), app.vendor) == ["escrow_held_for_sales", "quarantined_charges_of_sales"]
    assert await _check_erasure(app, uuid4(), uuid4()) == []


async def test_a_refund_names_its_buyer_until_it_is_settled(
    app: PaymentsApp,
) -> None:
    profile = provisioned(app.buyer, "chidi@unilag.edu.ng")
    await app.receive(profile)
    refund_id = await app.failed_refund()
    assert await _check_erasure(app, app.buyer) == ["unsettled_refunds"]
    body = {"action": "other_destination", "destination": ACCOUNT, "reason": "Chidi Okafor wrote to us"}
    prepared = await app.post_as(f"/api/refunds/{refund_id}/prepare", body, "finance_maker")
    assert prepared.status_code == 200, prepared.text
    balances, snapshot = await app.balances(), await app.snapshot()
    assert {table for table, rows in snapshot.items() if "Okafor" in str(rows)} == {"refund_decisions"}
    ended = await app.receive(UserErased(user_id=app.buyer))
    await app.receive(UserErased(user_id=app.buyer), event_id=ended.event_id)
    await app.receive(profile)
    left = await app.snapshot()
    named = {table for table, rows in left.items() if "Okafor" in str(rows) or "chidi@" in str(rows)}
    assert named == {"processed_webhook_events"}, "the gateway's raw bodies stay for their retention (docs/privacy.md)"
    assert left["ledger_entries"] == snapshot["ledger_entries"]
    assert await app.balances() == balances
    await app.check_ledger()


@pytest.mark.parametrize("who", ["buyer", "vendor"])
async def test_an_erasure_removes_reasons_and_keeps_decisions(app: PaymentsApp, who: str) -> None:
    secret = "Chidi Okafor called"
    refund_id = await app.failed_refund()
    _, charge_id = await app.quarantined(amount_minor=100)
    for path, body in (
        (f"/api/refunds/{refund_id}/prepare", {"action": "retry", "reason": secret}),
        (f"/api/quarantined-charges/{charge_id}/prepare", {"outcome": "return", "reason": secret}),
    ):
        prepared = await app.post_as(path, body, "finance_maker")
        assert prepared.status_code == 200, prepared.text
    before = await app.snapshot()
    assert {name for name, rows in before.items() if secret in str(rows)} == {
        "refund_decisions",
        "quarantine_decisions",
    }
    whose = "SELECT id, status, prepared_by, prepared_at FROM"
    recorded = f"{whose} refund_decisions UNION ALL {whose} quarantine_decisions ORDER BY 1"
    decisions = await app.fetch(recorded)
    closed = VendorClosed(vendor_id=app.vendor, owner_user_id=uuid4(), campus_id=uuid4())
    other_user = VendorClosed(vendor_id=uuid4(), owner_user_id=uuid4(), campus_id=uuid4())
    await app.receive(other_user)
    assert await app.snapshot() | {"inbox": []} == before | {"inbox": []}
    ended = closed if who == "vendor" else UserErased(user_id=app.buyer)
    received = await app.receive(ended)
    await app.receive(ended, event_id=received.event_id)
    assert secret not in str(await app.snapshot())
    assert await app.fetch(recorded) == decisions
    await app.check_ledger()


async def test_a_buyer_reads_their_payments_refunds_and_where_they_went(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    body = {"action": "other_destination", "destination": ACCOUNT, "reason": "they wrote to us"}
    await app.post_as(f"/api/refunds/{refund_id}/prepare", body, "finance_maker")
    path = "/api/personal-records/payments?limit=100"
    response = await app.client.get(path, headers=app.headers(app.buyer))
    assert response.status_code == 200, response.text
    found = {line["section"]: line["record"] for line in response.json()["data"]}
    assert set(found) == {"contact", "payments", "refunds", "refundDestinations"}
    assert found["refundDestinations"]["accountName"] == "Chidi Okafor"
    auditor = app.headers(uuid4(), roles=("auditor",))
    assert (await app.client.get(path, headers=auditor)).json()["data"] == []
