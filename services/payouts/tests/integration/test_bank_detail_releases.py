"""Two people of finance release a quarantined account."""

import asyncio
import uuid

import pytest

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of

from .conftest import Scenario
from .steps import decide_release, prepare_release, quarantine_account

CHANGED = "payouts.bank_details_changed.v1"


@pytest.fixture
def scenario(shared_scenario: Scenario):
    return shared_scenario


@pytest.fixture
async def account(shared_sandbox):
    return await shared_sandbox.new_account()


@pytest.fixture
async def vendor(scenario, account):
    vendor = await scenario.ready_vendor(10_000, account)
    return vendor


async def read(scenario, path: str, role: str = "auditor"):
    return await scenario.client.get(path, headers=scenario.headers(new_id(), roles=(role,), stepped_up=True))


async def test_an_approved_release_ends_the_quarantine_for_every_vendor(scenario, vendor, account) -> None:
    twin, later = await scenario.ready_vendor(4_000, account), await scenario.vendor()
    payouts = [await scenario.payout(one, 1_000) for one in (vendor, twin)]
    data_of(await quarantine_account(scenario, vendor))
    maker, checker = new_id(), new_id()
    release = data_of(await prepare_release(scenario, vendor, by=maker), 201)
    assert (release["status"], release["accountLast4"], release["preparedBy"]) == (
        "prepared",
        account[0][-4:],
        str(maker),
    )
    assert {line["vendorId"] for line in release["quarantines"]} == {str(vendor.id), str(twin.id)}
    assert data_of(await read(scenario, f"/api/bank-detail-releases/{release['id']}")) == release
    assert error_of(await scenario.put_bank_details(later, *account)) == CONFLICT
    approved = data_of(await decide_release(scenario, release, by=checker))
    assert (approved["status"], approved["decidedBy"], approved["hash"]) == ("approved", str(checker), release["hash"])
    for one in (vendor, twin):
        headers = scenario.headers(one.owner, **one.claims())
        shown = data_of(await scenario.client.get(f"/api/vendors/{one.id}/bank-details", headers=headers))
        assert (shown["verified"], shown["quarantined"], shown["reason"]) == (True, False, None)
        notified = [event for event in await scenario.published(CHANGED) if event["vendorId"] == str(one.id)]
        assert len(notified) == 2
        history = await read(scenario, f"/api/vendors/{one.id}/bank-details/history")
        assert [line["change"] for line in data_of(history)] == ["released", "quarantined", "set"]
    sent = data_of(await scenario.dispatch(uuid.uuid4(), payoutIds=payouts))
    assert {line["payoutId"] for line in sent["transfers"]} == set(payouts)
    assert data_of(await scenario.put_bank_details(later, *account))["verified"] is True
    assert data_of(await scenario.put_bank_details(vendor, *account))["verified"] is True


async def test_only_another_member_of_finance_decides(scenario, vendor) -> None:
    assert error_of(await prepare_release(scenario, vendor)) == NOT_FOUND
    data_of(await quarantine_account(scenario, vendor))
    for role in ("finance_checker", "auditor", "ops_oncall", "platform_admin", "support_agent"):
        assert error_of(await prepare_release(scenario, vendor, role)) == FORBIDDEN
    assert error_of(await prepare_release(scenario, vendor, stepped_up=False)) == STEP_UP_REQUIRED
    maker, key, unknown = new_id(), uuid.uuid4(), {"id": new_id(), "hash": "0" * 64}
    release = data_of(await prepare_release(scenario, vendor, by=maker, key=key), 201)
    assert data_of(await prepare_release(scenario, vendor, by=maker, key=key), 201) == release
    assert error_of(await prepare_release(scenario, vendor)) == CONFLICT
    for verb in ("approve", "reject"):
        assert error_of(await decide_release(scenario, release, verb, "finance_maker")) == FORBIDDEN
        assert error_of(await decide_release(scenario, release, verb, by=maker)) == FORBIDDEN
        assert error_of(await decide_release(scenario, release, verb, stepped_up=False)) == STEP_UP_REQUIRED
        assert error_of(await decide_release(scenario, unknown, verb)) == NOT_FOUND
    assert error_of(await decide_release(scenario, release, body={})) == INVALID
    assert error_of(await decide_release(scenario, release, body={"hash": "0" * 64})) == CONFLICT
    assert data_of(await read(scenario, f"/api/bank-detail-releases/{release['id']}")) == release
    assert (await scenario.request_payout(vendor, 100)).status_code == 409


async def test_a_rejected_release_can_be_prepared_again(scenario, vendor, account) -> None:
    data_of(await quarantine_account(scenario, vendor))
    first = data_of(await prepare_release(scenario, vendor), 201)
    checker = new_id()
    for _ in range(2):
        rejected = data_of(await decide_release(scenario, first, "reject", by=checker))
        assert (rejected["status"], rejected["rejectionReason"]) == ("rejected", "Say more")
    assert error_of(await decide_release(scenario, first)) == CONFLICT
    assert error_of(await scenario.put_bank_details(vendor, *account)) == CONFLICT
    second = data_of(await prepare_release(scenario, vendor), 201)
    listed = data_of(await read(scenario, f"/api/bank-detail-releases?vendorId={vendor.id}&status=prepared"))
    assert [line["id"] for line in listed] == [second["id"]]


async def test_concurrent_approvals_release_once(scenario, vendor) -> None:
    data_of(await quarantine_account(scenario, vendor))
    release = data_of(await prepare_release(scenario, vendor), 201)
    responses = await asyncio.gather(*(decide_release(scenario, release) for _ in range(5)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["data"]["decidedBy"] for response in responses}) == 1
    notified = [event for event in await scenario.published(CHANGED) if event["vendorId"] == str(vendor.id)]
    assert len(notified) == 2


async def test_a_concurrent_approval_and_rejection_decide_once(scenario, vendor) -> None:
    data_of(await quarantine_account(scenario, vendor))
    release = data_of(await prepare_release(scenario, vendor), 201)
    responses = await asyncio.gather(decide_release(scenario, release), decide_release(scenario, release, "reject"))
    assert sorted(response.status_code for response in responses) == [200, 409]


async def test_a_quarantine_after_the_preparation_makes_it_stale(scenario, vendor) -> None:
    data_of(await quarantine_account(scenario, vendor))
    release = data_of(await prepare_release(scenario, vendor), 201)
    data_of(await quarantine_account(scenario, vendor, reason="The police asks for it"))
    assert error_of(await decide_release(scenario, release)) == CONFLICT
    assert (await scenario.request_payout(vendor, 100)).status_code == 409


async def test_a_released_account_can_be_quarantined_again(scenario, vendor, account) -> None:
    for _ in range(2):
        stopped = data_of(await quarantine_account(scenario, vendor))
        assert (stopped["verified"], stopped["quarantined"]) == (False, True)
        assert error_of(await scenario.put_bank_details(vendor, *account)) == CONFLICT
        release = data_of(await prepare_release(scenario, vendor), 201)
        data_of(await decide_release(scenario, release))
        assert data_of(await scenario.put_bank_details(vendor, *account))["verified"] is True
