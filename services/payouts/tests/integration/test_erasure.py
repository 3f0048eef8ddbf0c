"""Erasure of a vendor's owner: open amounts are reported, and a closed vendor has no personal data."""

from datetime import timedelta

from common.primitives.ids import new_id
from contracts.identity import ErasureRequested, VendorChanged, VendorClosed
from testkit.sandbox import Sandbox

from .conftest import Scenario


async def evaluate_update(scenario: Scenario, vendor, user_id=None):
    await scenario.receive(
        ErasureRequested(user_id=user_id or vendor.owner, request_id=new_id(), vendor_id=None if user_id else vendor.id)
    )
    return (await scenario.published("payouts.erasure_judged.v1"))[-1].get("openMatters", [])


async def test_open_amounts_block_a_vendors_erasure(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    vendor = await scenario.vendor()
    assert await evaluate_update(scenario, vendor) == []
    await scenario.hold(vendor, 700)
    assert await evaluate_update(scenario, vendor) == ["wallet_locked"]
    other = await scenario.ready_vendor(50_000)
    assert await evaluate_update(scenario, other) == ["wallet_balance"]
    scenario.clock.advance(timedelta(days=2))
    await scenario.payout(other, 50_000)
    assert await evaluate_update(scenario, other) == ["pending_payouts"]
    assert await evaluate_update(scenario, other, user_id=new_id()) == []


async def test_closing_a_vendor_removes_personal_data_and_keeps_the_ledger(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    vendor = await scenario.ready_vendor(50_000)
    ledger = "SELECT * FROM ledger_entries ORDER BY 1, 2"
    before = await scenario.fetch(ledger)
    closed = VendorClosed(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id())
    await scenario.receive(closed, sequence=9)
    late = {"legal_name": "Ada Obi Ventures", "business_name": "Ada's", "campus_id": new_id()}
    await scenario.receive(VendorChanged(vendor_id=vendor.id, owner_user_id=vendor.owner, **late), sequence=8)
    [known] = await scenario.fetch("SELECT legal_name FROM vendors WHERE id = $1", vendor.id)
    assert known["legal_name"] == ""
    assert await scenario.fetch("SELECT 1 FROM vendor_bank_details WHERE vendor_id = $1", vendor.id) == []
    [version] = await scenario.fetch("SELECT * FROM bank_detail_versions WHERE vendor_id = $1", vendor.id)
    personal_columns = (
        "account_number",
        "account_sealed",
        "account_fingerprint",
        "last4",
        "bank_code",
        "account_name",
        "reason",
    )
    assert {version[name] for name in personal_columns} <= {"", None}
    assert await scenario.fetch(ledger) == before
    # An older token stays valid for some seconds.
    assert (await scenario.put_bank_details(vendor)).status_code == 503
    assert await scenario.fetch("SELECT 1 FROM vendor_bank_details WHERE vendor_id = $1", vendor.id) == []


async def test_closing_a_vendor_removes_no_reason_of_the_audit_history(
    shared_scenario: Scenario, shared_sandbox: Sandbox
) -> None:
    scenario, secret = shared_scenario, "Ada Obi asked by phone"
    vendor, other = [await scenario.ready_vendor(50_000, await shared_sandbox.new_account()) for _ in range(2)]
    scenario.clock.advance(timedelta(days=2))
    for seller in (vendor, other):
        payout_id = await scenario.payout(seller, 1_000)
        response = await scenario.client.post(
            f"/api/vendors/{seller.id}/bank-details/quarantine",
            json={"reason": secret, "payoutId": payout_id},
            headers=scenario.maker(),
        )
        assert response.status_code == 200, response.text
    personal_columns = "SELECT * FROM payout_requests WHERE vendor_id = $1"
    assert secret in str(await scenario.fetch(personal_columns, vendor.id))
    money = "SELECT id, amount, status, retry_count FROM payout_requests WHERE vendor_id = $1"
    before = await scenario.fetch(money, vendor.id)
    closed = VendorClosed(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id())
    await scenario.receive(closed)
    assert secret not in str(await scenario.fetch(personal_columns, vendor.id))
    assert secret in str(await scenario.fetch(personal_columns, other.id))
    assert await scenario.fetch(money, vendor.id) == before
    [act] = await scenario.fetch("SELECT reason FROM bank_detail_quarantines WHERE vendor_id = $1", vendor.id)
    assert act["reason"] == secret


async def test_personal_records_contain_the_own_vendors_data_only(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    vendor, other = await scenario.ready_vendor(50_000), await scenario.ready_vendor(70_000)
    path = "/api/personal-records/payouts?limit=100"
    response = await scenario.client.get(path, headers=scenario.headers(vendor.owner, **vendor.claims()))
    assert response.status_code == 200, response.text
    found = {line["section"]: line["record"] for line in response.json()["data"]}
    assert set(found) == {"vendor", "bankDetails", "statement"}
    assert (found["bankDetails"]["accountLast4"], found["statement"]["netMinor"]) == ("6785", 50_000)
    assert str(other.id) not in response.text
    buyer = await scenario.client.get(path, headers=scenario.headers(new_id()))
    assert buyer.json()["data"] == []
