"""A payout run above the limit needs a second person, bound to the list that the first one saw."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .dispatch_steps import KEY, OTHER_KEY
from .staff import Staff
from .steps import quarantine_account

LARGE = 50_000_001


@pytest.fixture
async def staff(scenario: Scenario, sandbox: Sandbox) -> Staff:
    return Staff(scenario, sandbox, maker=scenario.operator_id)


async def decide(staff: Staff, verb: str, preview: dict[str, Any], by: UUID | None = None) -> httpx.Response:
    path, body = f"/api/payout-batches/{preview['batchId']}/{verb}", {"hash": preview["hash"]}
    if verb == "reject":
        body = {"reason": "not this week"}
    role = "finance_maker" if verb == "prepare" else "finance_checker"
    return await staff.post(path, by or (staff.maker if verb == "prepare" else staff.checker), role, body)


async def read(staff: Staff, batch_id: str) -> dict[str, Any]:
    return dict(data_of(await staff.get(f"/api/payout-batches/{batch_id}")))


async def large_preview(staff: Staff, *amounts: int) -> dict[str, Any]:
    vendor = await staff.scenario.ready_vendor(sum(amounts) or LARGE)
    for amount in amounts or (LARGE,):
        await staff.scenario.payout(vendor, amount)
    plan = data_of(await staff.scenario.dispatch(uuid4(), dryRun=True))
    return await read(staff, plan["batchId"])


async def test_a_maker_sends_up_to_the_limit_and_not_above(scenario: Scenario, staff: Staff) -> None:
    vendor = await scenario.ready_vendor(2 * LARGE)
    first = await scenario.payout(vendor, LARGE - 1)
    assert data_of(await scenario.dispatch(KEY))["submitted"] == 1
    await scenario.payout(vendor, LARGE)
    refused = await scenario.dispatch(OTHER_KEY)
    assert error_of(refused) == CONFLICT
    assert [one["amount"] for one in await staff.sandbox.transfers()] == [LARGE - 1]
    preview = await read(staff, refused.json()["batchId"])
    assert (preview["dryRun"], preview["totalMinor"], preview["approvalRequired"]) == (True, LARGE, True)
    assert preview["approval"] is None
    small = data_of(await scenario.dispatch(uuid4(), dryRun=True, maxTotalMinor=1))
    assert (await read(staff, small["batchId"]))["approvalRequired"] is False
    assert (await scenario.read_payout(first))["transfer"] is not None


async def test_a_checker_sends_exactly_the_prepared_list_once(scenario: Scenario, staff: Staff) -> None:
    preview = await large_preview(staff, 30_000_000, 20_000_001)
    prepared = data_of(await decide(staff, "prepare", preview))
    assert (prepared["approval"]["status"], prepared["approval"]["preparedBy"]) == ("prepared", str(staff.maker))
    assert data_of(await decide(staff, "prepare", preview)) == prepared
    late = await scenario.payout(await scenario.ready_vendor(1_000), 1_000)
    waiting = "/api/payout-batches?awaiting=approval"
    headers = scenario.headers(staff.checker, roles=("finance_checker",))
    listed = data_of(await scenario.client.get(waiting, headers=headers))
    assert [one["batchId"] for one in listed] == [preview["batchId"]]
    responses = await asyncio.gather(*(decide(staff, "approve", preview) for _ in range(5)))
    sent = [data_of(response) for response in responses]
    assert sent == [sent[0]] * 5
    assert {one["payoutId"] for one in sent[0]["transfers"]} == {one["payoutId"] for one in preview["transfers"]}
    assert sorted(one["amount"] for one in await staff.sandbox.transfers()) == [20_000_001, 30_000_000]
    after = (await read(staff, preview["batchId"]))["approval"]
    assert (after["status"], after["decidedBy"], after["sentBatchId"]) == (
        "approved", str(staff.checker), sent[0]["batchId"],
    )  # fmt: skip
    assert error_of(await decide(staff, "approve", preview, new_id())) == CONFLICT
    assert data_of(await scenario.client.get(waiting, headers=headers)) == []
    assert (await scenario.read_payout(late))["transfer"] is None


async def test_a_changed_list_is_refused_and_shown(scenario: Scenario, staff: Staff) -> None:
    preview = await large_preview(staff)
    data_of(await decide(staff, "prepare", preview))
    vendor_id = preview["transfers"][0]["vendorId"]
    await scenario.fetch("UPDATE vendors SET legal_name = 'Another name' WHERE id = $1", UUID(vendor_id))
    refused = await decide(staff, "approve", preview)
    assert error_of(refused) == CONFLICT
    assert await staff.sandbox.transfers() == []
    present = await read(staff, refused.json()["batchId"])
    assert present["transfers"][0]["vendorName"] == "Another name"
    assert (await read(staff, preview["batchId"]))["approval"]["status"] == "overtaken"
    assert error_of(await decide(staff, "approve", preview)) == CONFLICT
    assert error_of(await decide(staff, "prepare", preview)) == CONFLICT
    data_of(await decide(staff, "prepare", present))
    assert data_of(await decide(staff, "approve", present))["submitted"] == 1


async def test_a_payout_that_can_no_longer_be_sent_changes_the_list(scenario: Scenario, staff: Staff) -> None:
    vendor = await scenario.ready_vendor(LARGE)
    await scenario.payout(vendor, LARGE)
    plan = data_of(await scenario.dispatch(uuid4(), dryRun=True))
    preview = await read(staff, plan["batchId"])
    data_of(await decide(staff, "prepare", preview))
    data_of(await quarantine_account(scenario, vendor))
    refused = await decide(staff, "approve", preview)
    assert error_of(refused) == CONFLICT
    assert (await read(staff, refused.json()["batchId"]))["transfers"] == []
    assert await staff.sandbox.transfers() == []


async def test_only_another_member_of_finance_approves(scenario: Scenario, staff: Staff) -> None:
    preview = await large_preview(staff)
    assert error_of(await decide(staff, "approve", preview)) == CONFLICT
    path, body = f"/api/payout-batches/{preview['batchId']}", {"hash": preview["hash"]}
    for role in ("finance_checker", "auditor", "ops_oncall", "platform_admin", "support_agent"):
        assert error_of(await staff.post(f"{path}/prepare", staff.maker, role, body)) == FORBIDDEN
    assert error_of(await staff.post(f"{path}/prepare", staff.maker, "finance_maker", {})) == INVALID
    assert error_of(await staff.post(f"{path}/prepare", staff.maker, "finance_maker", {"hash": "0" * 64})) == CONFLICT
    unknown = f"/api/payout-batches/{new_id()}/prepare"
    assert error_of(await staff.post(unknown, staff.maker, "finance_maker", body)) == NOT_FOUND
    data_of(await decide(staff, "prepare", preview))
    both = ("finance_maker", "finance_checker")
    for verb in ("approve", "reject"):
        content = body if verb == "approve" else {"reason": "no"}
        assert error_of(await staff.post(f"{path}/{verb}", staff.maker, both, content)) == FORBIDDEN
        assert error_of(await staff.post(f"{path}/{verb}", staff.checker, "finance_maker", content)) == FORBIDDEN
        weak = await staff.post(f"{path}/{verb}", staff.checker, "finance_checker", content, stepped_up=False)
        assert error_of(weak) == STEP_UP_REQUIRED
    assert error_of(await decide(staff, "approve", {**preview, "hash": "0" * 64})) == CONFLICT
    assert data_of(await decide(staff, "reject", preview))["approval"]["rejectionReason"] == "not this week"
    assert error_of(await decide(staff, "approve", preview)) == CONFLICT
    assert await staff.sandbox.transfers() == []
    sent = data_of(await scenario.dispatch(uuid4(), dryRun=True))
    data_of(await decide(staff, "prepare", await read(staff, sent["batchId"])))
