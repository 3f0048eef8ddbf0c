import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.encryption import DecryptionFailed
from common.primitives.ids import new_id
from common.process.runtime import running
from contracts.identity import VendorChanged
from contracts.payouts import BankDetailsChanged
from contracts.permissions import permissions_of
from payouts.app import SERVICE
from payouts.use_cases.bank_details.encrypt_account_numbers import encrypt_account_numbers
from testkit.responses import FORBIDDEN, NOT_FOUND, STEP_UP_REQUIRED, UNAUTHORIZED, data_of, error_of, invalid_field_of
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor

CHANGED = BankDetailsChanged.TYPE
DAY = timedelta(days=1)
ADA, ADA_TOO = ("0123456785", "058"), ("0690123456", "044")


@pytest.fixture
def scenario(shared_scenario: Scenario):
    return shared_scenario


@pytest.fixture
async def sandbox(shared_sandbox: Sandbox):
    """Another account under the vendor's name, besides the sandbox's own."""
    await shared_sandbox.name_account("044", "1234567890", "OBI ADA VENTURES")
    yield shared_sandbox
    await shared_sandbox.faults(resolve_call=None)


OTHER = ("1234567890", "044")


async def get(scenario, vendor, headers=None, path=""):
    return await scenario.client.get(
        f"/api/vendors/{vendor.id}/bank-details{path}",
        headers=headers or scenario.headers(vendor.owner, **vendor.claims()),
    )


async def read(scenario, vendor):
    return (await get(scenario, vendor)).json()["data"]


async def history(scenario, vendor, headers=None):
    return data_of(await get(scenario, vendor, headers, "/history?limit=100"))


async def events_of(scenario, event_type, vendor):
    return [data for data in await scenario.published(event_type) if data["vendorId"] == str(vendor.id)]


async def test_an_account_under_the_vendors_legal_name_is_verified(scenario) -> None:
    vendor = await scenario.vendor()
    assert (await get(scenario, vendor)).status_code == 404
    response = await scenario.put_bank_details(vendor, *ADA)
    assert response.status_code == 200
    details = response.json()["data"]
    assert details == await read(scenario, vendor)
    assert (details["verified"], details["reason"], details["warning"]) == (True, None, None)
    assert (details["accountLast4"], details["bankName"]) == ("6785", "Guaranty Trust Bank")
    assert details["accountName"] == "Ada Obi Ventures"
    assert (details["quarantined"], details["payoutsFrom"]) == (False, details["updatedAt"])
    assert "0123456785" not in response.text
    assert await events_of(scenario, CHANGED, vendor) == [
        {"vendorId": str(vendor.id), "last4": "6785", "bankCode": "058"}
    ]


async def test_an_account_of_another_name_replaces_no_verified_one(scenario) -> None:
    vendor = await scenario.vendor()
    assert await history(scenario, vendor) == []
    present = data_of(await scenario.put_bank_details(vendor, *ADA))
    scenario.clock.advance(timedelta(minutes=1))
    details = data_of(await scenario.put_bank_details(vendor, *ADA_TOO))
    assert (details["verified"], details["isPresent"], details["payoutsFrom"]) == (False, False, None)
    assert (details["accountLast4"], details["quarantined"]) == ("3456", False)
    assert await read(scenario, vendor) == present
    assert details["reason"].startswith("name_mismatch")
    newest, first = await history(scenario, vendor)
    assert (first["accountLast4"], first["bankCode"], first["verified"], first["reason"]) == ("6785", "058", True, None)
    assert (newest["accountLast4"], newest["verified"], newest["reason"]) == ("3456", False, details["reason"])
    assert {change["changedBy"] for change in (newest, first)} == {str(vendor.owner)}
    assert newest["changedAt"] == details["updatedAt"] > first["changedAt"]
    assert len(await events_of(scenario, CHANGED, vendor)) == 1
    await scenario.release(vendor, 1_000)
    assert (await scenario.request_payout(vendor, 100)).status_code == 201


async def test_a_cursor_of_the_history_is_complete_and_bound_to_its_reader(scenario) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    for _ in range(5):
        await scenario.put_bank_details(vendor, *ADA)
    await scenario.put_bank_details(other, *ADA)
    seen, path = [], "/history?limit=2"
    while path:
        response = (await get(scenario, vendor, path=path)).json()
        seen += [change["id"] for change in response["data"]]
        cursor = response["meta"]["next_cursor"]
        path = cursor and f"/history?limit=2&cursor={cursor}"
        if cursor:
            assert invalid_field_of(await get(scenario, other, path=path)) == (422, "cursor")
    assert len(seen) == len(set(seen)) == 5
    assert (await get(scenario, vendor, path="/history?limit=101")).status_code == 422


async def test_other_vendors_do_not_read_the_history(scenario) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    await scenario.put_bank_details(vendor, *ADA)
    headers = scenario.headers
    for role in ("finance_maker", "finance_checker", "auditor"):
        [change] = await history(scenario, vendor, headers(new_id(), roles=(role,)))
        assert (change["accountLast4"], change["changedBy"]) == ("6785", str(vendor.owner))
        assert (await get(scenario, other, headers(new_id(), roles=(role,)), "/history")).status_code == 404
    assert (await get(scenario, vendor, headers(other.owner, **other.claims()), "/history")).status_code == 404
    for role in ("buyer", "support_agent", "ops_oncall", "platform_admin"):
        assert (await get(scenario, vendor, headers(new_id(), roles=(role,)), "/history")).status_code == 403


async def test_a_wrong_check_digit_is_only_a_warning(scenario, sandbox) -> None:
    vendor = await scenario.vendor()
    await sandbox.name_account("011", "0000014578", "ADA OBI VENTURES")
    details = (await scenario.put_bank_details(vendor, "0000014578", "011")).json()["data"]
    assert details["verified"] is True
    assert "check digit" in details["warning"]
    details = (await scenario.put_bank_details(vendor, "0000014577", "011")).json()["data"]
    assert (details["verified"], details["accountName"]) == (False, None)
    assert details["reason"].startswith("account_number_invalid")


@pytest.mark.parametrize("fault", [{"error_before": True}, {"timeout": True}])
async def test_an_unavailable_gateway_changes_no_details(
    scenario, sandbox, limit_gateway_timeout: Callable[[float], None], fault: dict[str, Any]
) -> None:
    vendor = await scenario.vendor()
    await scenario.put_bank_details(vendor, *ADA)
    limit_gateway_timeout(0.5)
    await sandbox.faults(resolve_call=fault)
    response = await scenario.put_bank_details(vendor, *ADA_TOO)
    assert error_of(response) == (503, "INTERNAL_ERROR")
    assert int(response.headers["retry-after"]) >= 1
    assert (await read(scenario, vendor))["accountLast4"] == "6785"
    assert len(await history(scenario, vendor)) == len(await events_of(scenario, CHANGED, vendor)) == 1


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"accountNumber": "123456789"}, "accountNumber"),
        ({"accountNumber": "12345678901"}, "accountNumber"),
        ({"accountNumber": "12345678x0"}, "accountNumber"),
        ({"accountNumber": "١٢٣٤٥٦٧٨٩٠"}, "accountNumber"),
        ({"accountNumber": "0123456785\n"}, "accountNumber"),
        ({"accountNumber": None}, "accountNumber"),
        ({"bankCode": "999"}, "bankCode"),
        ({"bankCode": ""}, "bankCode"),
        ({"verified": True}, "verified"),
        ({"accountName": "Ada Obi Ventures"}, "accountName"),
    ],
)
async def test_malformed_details_and_unknown_fields_are_refused(scenario, body: dict[str, Any], name: str) -> None:
    vendor = await scenario.vendor()
    response = await scenario.client.put(
        f"/api/vendors/{vendor.id}/bank-details",
        json={"accountNumber": "0123456785", "bankCode": "058", **body},
        headers=scenario.headers(vendor.owner, **vendor.claims(stepped_up=True)),
    )
    assert response.status_code == 422
    assert [param["name"] for param in response.json()["invalid_params"]] == [name]
    assert await history(scenario, vendor) == []


async def test_changing_details_needs_a_second_factor_and_the_own_vendor(scenario) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    body = {"accountNumber": "0123456785", "bankCode": "058"}

    async def put(headers, path=f"/api/vendors/{vendor.id}/bank-details"):
        response = await scenario.client.put(path, json=body, headers=headers)
        return response.status_code, response.json()["code"]

    headers = scenario.headers
    assert await put({}) == UNAUTHORIZED
    assert await put(headers(vendor.owner, **vendor.claims())) == STEP_UP_REQUIRED
    assert await put(headers(other.owner, **other.claims(stepped_up=True))) == NOT_FOUND
    assert await put(headers(new_id(), stepped_up=True)) == FORBIDDEN
    assert await put(headers(new_id(), roles=("finance_maker",), stepped_up=True)) == FORBIDDEN
    own = headers(vendor.owner, **vendor.claims(stepped_up=True))
    assert await put(own, "/api/vendors/1/bank-details") == NOT_FOUND
    assert await history(scenario, vendor) == []


async def test_auditors_read_the_details_and_others_do_not(scenario) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    await scenario.put_bank_details(vendor, *ADA)
    headers = scenario.headers
    assert (await get(scenario, vendor, headers(other.owner, **other.claims()))).status_code == 404
    assert (await get(scenario, vendor, headers(new_id()))).status_code == 403
    auditor = await get(scenario, vendor, headers(new_id(), roles=("auditor",)))
    assert auditor.json()["data"]["accountLast4"] == "6785"


async def test_a_vendor_not_received_yet_is_503(scenario) -> None:
    assert (await scenario.put_bank_details(Vendor(new_id(), new_id()), *ADA)).status_code == 503


async def test_payouts_to_a_changed_account_wait_for_the_cooling_off(scenario, sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    changed = (await scenario.put_bank_details(vendor, *OTHER)).json()["data"]
    assert changed["verified"] is True
    payout_id = await scenario.payout(vendor, 1_000)
    expected = [{"payoutId": payout_id, "reason": "bank_details_cooling"}]
    for dry_run in (True, False):
        response = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id], dryRun=dry_run)).json()["data"]
        assert (response["transfers"], response["skipped"]) == ([], expected)
    scenario.clock.advance(DAY - timedelta(seconds=1))
    # The same account again neither prolongs nor shortens it.
    assert (await scenario.put_bank_details(vendor, *OTHER)).json()["data"]["payoutsFrom"] == changed["payoutsFrom"]
    assert (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]["skipped"] == expected
    scenario.clock.advance(timedelta(seconds=1))
    sent = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]
    assert [line["payoutId"] for line in sent["transfers"]] == [payout_id]


async def test_a_first_verified_account_needs_no_cooling_off(scenario, sandbox) -> None:
    vendor = await scenario.vendor()
    assert (await scenario.put_bank_details(vendor, *ADA_TOO)).json()["data"]["verified"] is False
    first = (await scenario.put_bank_details(vendor, *ADA)).json()["data"]
    assert first["payoutsFrom"] == first["updatedAt"]
    await scenario.put_bank_details(vendor, *OTHER)
    back = (await scenario.put_bank_details(vendor, *ADA)).json()["data"]
    assert back["payoutsFrom"][:10] > back["updatedAt"][:10]


async def test_details_verified_under_another_legal_name_need_a_new_verification(scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)

    async def rename(legal_name, sequence):
        await scenario.receive(
            VendorChanged(
                vendor_id=vendor.id, owner_user_id=vendor.owner, business_name="A shop", legal_name=legal_name,
                campus_id=new_id(),
            ),
            sequence=sequence,
        )  # fmt: skip

    await rename("ADA OBI VENTURES", 5)
    assert (await read(scenario, vendor))["verified"] is True
    await rename("Bola Ade Stores", 4)
    assert (await read(scenario, vendor))["verified"] is True
    await rename("Bola Ade Stores", 6)
    details = await read(scenario, vendor)
    assert (details["verified"], details["accountLast4"]) == (False, "6785")
    assert details["reason"].startswith("name_mismatch")
    assert (await scenario.request_payout(vendor, 100)).status_code == 409
    lost, _ = await history(scenario, vendor)
    assert (lost["change"], lost["changedBy"], lost["verified"]) == ("legal_name_changed", None, False)
    assert len(await events_of(scenario, CHANGED, vendor)) == 2


async def test_the_api_role_reads_no_account_number_and_no_other_vendors_rows(scenario) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    await scenario.put_bank_details(vendor, *ADA)
    await scenario.put_bank_details(other, *ADA)
    merchant = Caller(user_id=vendor.owner, vendor_id=vendor.id, permissions=permissions_of(["merchant"]))
    database = scenario.database
    for table in ("vendor_bank_details", "bank_detail_versions"):
        for column in ("account_number", "account_sealed"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with database.unit_of_work(acting_as=merchant) as uow:
                    await uow.fetch(f"SELECT {column} FROM {table}")
        async with database.unit_of_work(acting_as=merchant) as uow:
            assert {row["vendor_id"] for row in await uow.fetch(f"SELECT vendor_id FROM {table}")} == {vendor.id}


async def as_the_release_before_wrote_it(scenario, vendor, account_number):
    """Store the vendor's rows with a plaintext number, as the previous release did."""
    for table in ("vendor_bank_details", "bank_detail_versions"):
        await scenario.fetch(
            f"UPDATE {table} SET account_number = $2, account_sealed = NULL, account_fingerprint = NULL "
            "WHERE vendor_id = $1 RETURNING 1",
            vendor.id,
            account_number,
        )


async def stored(scenario, vendor):
    return str([
        dict(row)
        for table in ("vendor_bank_details", "bank_detail_versions")
        for row in await scenario.fetch(f"SELECT * FROM {table} WHERE vendor_id = $1", vendor.id)
    ])  # fmt: skip


async def test_plaintext_account_numbers_are_encrypted_while_payouts_continue(scenario, sandbox) -> None:
    first, second = await scenario.ready_vendor(5_000), await scenario.ready_vendor(5_000)
    assert ADA[0] not in await stored(scenario, first)
    payouts = [await scenario.payout(vendor, 1_000) for vendor in (first, second)]
    for vendor in (first, second):
        await as_the_release_before_wrote_it(scenario, vendor, ADA[0])
    assert ADA[0] in await stored(scenario, first)
    before = (await scenario.dispatch(uuid.uuid4(), payoutIds=payouts[:1])).json()["data"]
    numbers = scenario.dependencies.account_numbers
    assert await encrypt_account_numbers(scenario.database, numbers) == 2
    assert await encrypt_account_numbers(scenario.database, numbers) == 0
    assert ADA[0] not in await stored(scenario, first) + await stored(scenario, second)
    after = (await scenario.dispatch(uuid.uuid4(), payoutIds=payouts[1:])).json()["data"]
    sent = {line["reference"] for line in before["transfers"] + after["transfers"]}
    assert len(sent) == 2
    recipients = [transfer["recipient"] for transfer in await sandbox.transfers() if transfer["reference"] in sent]
    assert len(recipients) == 2
    assert (await scenario.put_bank_details(second, *ADA)).json()["data"]["verified"] is True


async def test_a_wrong_encryption_key_stops_the_start(scenario) -> None:
    await scenario.put_bank_details(await scenario.vendor(), *ADA)
    settings = scenario.settings.model_copy(update={"account_number_key": "quite another key"})
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test", scenario.clock):
            pass


async def test_demo_vendors_have_verified_sandbox_accounts(scenario) -> None:
    from contracts import demo
    from payouts.demo import _ACCOUNTS, load_demo_data

    dependencies = scenario.dependencies
    for _ in range(2):
        await load_demo_data(dependencies.database, dependencies.account_numbers, scenario.clock)
    for vendor, bank_code, account_number in _ACCOUNTS:
        assert len(await events_of(scenario, CHANGED, vendor)) == 1
        assert await dependencies.gateway.account_name(account_number, bank_code) == vendor.legal_name
    assert {vendor.id for vendor, *_ in _ACCOUNTS} == {vendor.id for vendor in demo.VENDORS}
