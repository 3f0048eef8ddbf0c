"""A vendor whose owner wants to go: money and payouts under way are told, and a closed vendor has no name and no account."""

from datetime import timedelta

from common.primitives.ids import new_id
from contracts.identity import ErasureRequested, VendorChanged, VendorClosed


async def evaluate_update(story, vendor, user_id=None):
    await story.service.hear(
        ErasureRequested(user_id=user_id or vendor.owner, request_id=new_id(), vendor_id=None if user_id else vendor.id)
    )
    return (await story.service.published("payouts.erasure_judged.v1"))[-1].get("openMatters", [])


async def test_money_in_the_wallet_in_escrow_and_on_its_way_keeps_a_vendor(shared_story):
    story = shared_story
    vendor = await story.vendor()
    assert await evaluate_update(story, vendor) == []
    await story.hold(vendor, 700)
    assert await evaluate_update(story, vendor) == ["wallet_locked"]
    other = await story.ready_vendor(50_000)
    assert await evaluate_update(story, other) == ["wallet_balance"]
    story.clock.advance(timedelta(days=2))
    await story.payout(other, 50_000)
    assert await evaluate_update(story, other) == ["pending_payouts"]
    assert await evaluate_update(story, other, user_id=new_id()) == []


async def test_a_closed_vendor_has_neither_name_nor_account_and_the_book_is_as_it_was(shared_story):
    story = shared_story
    vendor = await story.ready_vendor(50_000)
    book = "SELECT * FROM ledger_entries ORDER BY 1, 2"
    before = await story.service.fetch(book)
    closed = VendorClosed(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id())
    await story.service.hear(closed, sequence=9)
    late = {"legal_name": "Ada Obi Ventures", "business_name": "Ada's", "campus_id": new_id()}
    await story.service.hear(VendorChanged(vendor_id=vendor.id, owner_user_id=vendor.owner, **late), sequence=8)
    [known] = await story.service.fetch("SELECT legal_name FROM vendors WHERE id = $1", vendor.id)
    assert known["legal_name"] == ""
    assert await story.service.fetch("SELECT 1 FROM vendor_bank_details WHERE vendor_id = $1", vendor.id) == []
    [version] = await story.service.fetch("SELECT * FROM bank_detail_versions WHERE vendor_id = $1", vendor.id)
    told = ("account_number", "account_sealed", "account_fingerprint", "last4", "bank_code", "account_name", "reason")
    assert {version[name] for name in told} <= {"", None}
    assert await story.service.fetch(book) == before
    # A token of before lives some seconds longer.
    assert (await story.put_bank_details(vendor)).status_code == 503
    assert await story.service.fetch("SELECT 1 FROM vendor_bank_details WHERE vendor_id = $1", vendor.id) == []


async def test_the_reasons_of_staff_leave_the_payouts_of_a_closed_vendor_and_stay_in_the_trail(shared_story):
    story, secret = shared_story, "Ada Obi asked by phone"
    vendor, other = await story.ready_vendor(50_000), await story.ready_vendor(50_000)
    story.clock.advance(timedelta(days=2))
    for seller in (vendor, other):
        payout_id = await story.payout(seller, 1_000)
        answer = await story.service.client.post(
            f"/api/vendors/{seller.id}/bank-details/quarantine",
            json={"reason": secret, "payoutId": payout_id},
            headers=story.maker(),
        )
        assert answer.status_code == 200, answer.text
    told = "SELECT * FROM payout_requests WHERE vendor_id = $1"
    assert secret in str(await story.service.fetch(told, vendor.id))
    money = "SELECT id, amount, status, retry_count FROM payout_requests WHERE vendor_id = $1"
    before = await story.service.fetch(money, vendor.id)
    closed = VendorClosed(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id())
    await story.service.hear(closed)
    assert secret not in str(await story.service.fetch(told, vendor.id))
    assert secret in str(await story.service.fetch(told, other.id))
    assert await story.service.fetch(money, vendor.id) == before
    [act] = await story.service.fetch("SELECT reason FROM bank_detail_quarantines WHERE vendor_id = $1", vendor.id)
    assert act["reason"] == secret


async def test_a_vendor_reads_accounts_payouts_and_statement_of_their_own(shared_story):
    story = shared_story
    vendor, other = await story.ready_vendor(50_000), await story.ready_vendor(70_000)
    path = "/api/personal-records/payouts?limit=100"
    answer = await story.service.client.get(path, headers=story.service.headers(vendor.owner, **vendor.claims()))
    assert answer.status_code == 200, answer.text
    found = {line["section"]: line["record"] for line in answer.json()["data"]}
    assert set(found) == {"vendor", "bankDetails", "statement"}
    assert (found["bankDetails"]["accountLast4"], found["statement"]["netMinor"]) == ("6785", 50_000)
    assert str(other.id) not in answer.text
    buyer = await story.service.client.get(path, headers=story.service.headers(new_id()))
    assert buyer.json()["data"] == []
