import asyncpg
import pytest

from common.caller import Caller
from common.ids import new_id
from contracts.identity import VendorChanged
from contracts.permissions import permissions_of


async def history(story, vendor):
    return await story.service.fetch(
        "SELECT account_number, verified FROM bank_detail_versions WHERE vendor_id = $1 ORDER BY changed_at, id",
        vendor.id,
    )


async def read(story, vendor, headers=None):
    return await story.service.client.get(
        f"/api/vendors/{vendor.id}/bank-details",
        headers=headers or story.service.headers(vendor.owner, **vendor.claims()),
    )


async def test_an_account_under_the_vendors_legal_name_is_verified(story):
    vendor = await story.vendor()
    assert (await read(story, vendor)).status_code == 404
    answer = await story.put_bank_details(vendor)
    assert answer.status_code == 200
    assert answer.json()["data"] == (await read(story, vendor)).json()["data"]
    details = answer.json()["data"]
    assert (details["verified"], details["reason"], details["warning"]) == (True, None, None)
    assert (details["accountLast4"], details["bankName"]) == ("6785", "Guaranty Trust Bank")
    assert details["accountName"] == "Ada Obi Ventures"
    assert "0123456785" not in answer.text
    [event] = await story.service.published("payouts.bank_details_changed.v1")
    assert event == {"vendorId": str(vendor.id), "last4": "6785", "bankCode": "058"}


async def test_another_name_is_kept_unverified_with_a_reason_and_the_history_stays(story):
    vendor = await story.vendor()
    await story.put_bank_details(vendor)
    answer = await story.put_bank_details(vendor, "0690123456", "044")
    assert answer.status_code == 200
    assert answer.json()["data"]["verified"] is False
    assert answer.json()["data"]["reason"].startswith("name_mismatch")
    assert [(row["account_number"], row["verified"]) for row in await history(story, vendor)] == [
        ("0123456785", True), ("0690123456", False),
    ]  # fmt: skip


async def test_a_failed_check_digit_is_a_warning_and_the_gateway_decides(story, sandbox):
    vendor = await story.vendor()
    await sandbox.name_account("011", "0000014578", "ADA OBI VENTURES")
    details = (await story.put_bank_details(vendor, "0000014578", "011")).json()["data"]
    assert details["verified"] is True
    assert "check digit" in details["warning"]
    details = (await story.put_bank_details(vendor, "0000014577", "011")).json()["data"]
    assert (details["verified"], details["accountName"]) == (False, None)
    assert details["reason"].startswith("account_number_invalid")


@pytest.mark.parametrize("fault", [{"error_before": True}, {"timeout": True}])
async def test_when_the_gateway_is_away_nothing_changes(story, sandbox, fault):
    vendor = await story.vendor()
    await story.put_bank_details(vendor)
    await sandbox.faults(resolve_call=fault)
    answer = await story.put_bank_details(vendor, "0690123456", "044")
    assert (answer.status_code, answer.json()["code"]) == (503, "INTERNAL_ERROR")
    assert int(answer.headers["retry-after"]) >= 1
    assert (await read(story, vendor)).json()["data"]["accountLast4"] == "6785"
    assert len(await history(story, vendor)) == 1
    assert len(await story.service.published("payouts.bank_details_changed.v1")) == 1


@pytest.mark.parametrize(
    ("account_number", "bank_code", "name"),
    [
        ("123456789", "058", "accountNumber"),
        ("12345678901", "058", "accountNumber"),
        ("12345678x0", "058", "accountNumber"),
        ("١٢٣٤٥٦٧٨٩٠", "058", "accountNumber"),
        ("0123456785\n", "058", "accountNumber"),
        ("0123456785", "999", "bankCode"),
        ("0123456785", "", "bankCode"),
    ],
)
async def test_malformed_details_are_refused(story, account_number, bank_code, name):
    vendor = await story.vendor()
    answer = await story.put_bank_details(vendor, account_number, bank_code)
    assert answer.status_code == 422
    assert [param["name"] for param in answer.json()["invalid_params"]] == [name]
    assert await history(story, vendor) == []


async def test_changing_details_needs_a_second_factor_and_the_own_vendor(story):
    vendor, other = await story.vendor(), await story.vendor()
    body = {"accountNumber": "0123456785", "bankCode": "058"}
    path = f"/api/vendors/{vendor.id}/bank-details"

    async def put(headers):
        answer = await story.service.client.put(path, json=body, headers=headers)
        return answer.status_code, answer.json()["code"]

    headers = story.service.headers
    assert await put(headers(vendor.owner, **vendor.claims())) == (403, "AUTH_AAL2_REQUIRED")
    assert await put(headers(other.owner, **other.claims(stepped_up=True))) == (404, "RESOURCE_NOT_FOUND")
    assert await put(headers(new_id(), stepped_up=True)) == (403, "AUTH_FORBIDDEN")
    assert await history(story, vendor) == []


async def test_others_do_not_see_the_details_and_auditors_do(story):
    vendor, other = await story.vendor(), await story.vendor()
    await story.put_bank_details(vendor)
    headers = story.service.headers
    assert (await read(story, vendor, headers(other.owner, **other.claims()))).status_code == 404
    assert (await read(story, vendor, headers(new_id()))).status_code == 403
    auditor = await read(story, vendor, headers(new_id(), roles=("auditor",)))
    assert auditor.json()["data"]["accountLast4"] == "6785"


async def test_a_vendor_not_heard_of_yet_is_asked_to_come_again(story):
    from .conftest import Vendor

    answer = await story.put_bank_details(Vendor(new_id(), new_id()))
    assert answer.status_code == 503


async def test_the_api_role_cannot_read_an_account_number(story):
    vendor = await story.vendor()
    await story.put_bank_details(vendor)
    merchant = Caller(user_id=vendor.owner, vendor_id=vendor.id, permissions=permissions_of(["merchant"]))
    for table in ("vendor_bank_details", "bank_detail_versions"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with story.service.runtime.database.unit_of_work(acting_as=merchant) as uow:
                await uow.fetch(f"SELECT account_number FROM {table}")


async def test_demo_vendors_have_accounts_that_the_sandbox_knows_under_their_names(story):
    from contracts import demo
    from payouts.demo import _ACCOUNTS, load_demo_data

    database = story.service.runtime.database
    for _ in range(2):
        await load_demo_data(database, story.clock)
    assert len(await story.service.published("payouts.bank_details_changed.v1")) == 2
    for vendor, bank_code, account_number in _ACCOUNTS:
        name = await story.service.dependencies.gateway.account_name(account_number, bank_code)
        assert name == vendor.legal_name
    assert {vendor.id for vendor, *_ in _ACCOUNTS} == {vendor.id for vendor in demo.VENDORS}


async def test_details_verified_under_another_legal_name_lose_their_verification(story):
    vendor = await story.ready_vendor(1_000)

    async def rename(legal_name, sequence):
        await story.service.hear(
            VendorChanged(
                vendor_id=vendor.id, owner_user_id=vendor.owner, business_name="A shop", legal_name=legal_name,
                campus_id=new_id(),
            ),
            sequence=sequence,
        )  # fmt: skip

    await rename("ADA OBI VENTURES", 5)
    assert (await read(story, vendor)).json()["data"]["verified"] is True
    await rename("Bola Ade Stores", 4)
    assert (await read(story, vendor)).json()["data"]["verified"] is True
    await rename("Bola Ade Stores", 6)
    details = (await read(story, vendor)).json()["data"]
    assert (details["verified"], details["accountLast4"]) == (False, "6785")
    assert details["reason"].startswith("name_mismatch")
    assert (await story.ask(vendor, 100)).status_code == 409
    assert len(await history(story, vendor)) == 2
