"""The part of `GET /api/work` that payouts counts (contract section 13.6)."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from common.primitives.ids import new_id
from testkit.sandbox import Sandbox
from testkit.work import own_actions_of, work_of

from .conftest import Scenario
from .dispatch_steps import approve_run, prepare_run
from .staff import AMOUNT, Staff
from .steps import decide_release, prepare_release, quarantine_account


@pytest.fixture
def staff(scenario: Scenario, sandbox: Sandbox) -> Staff:
    return Staff(scenario, sandbox)


async def _work(staff: Staff, *roles: str, user: UUID | None = None) -> dict[str, dict[str, Any]]:
    return await work_of(staff.scenario.client, staff.scenario.headers(user or new_id(), roles=roles))


async def _kinds(staff: Staff, *roles: str, user: UUID | None = None) -> dict[str, int]:
    return {kind: item["count"] for kind, item in (await _work(staff, *roles, user=user)).items()}


async def test_a_payout_that_a_dispatch_would_send_waits_for_finance(staff: Staff) -> None:
    ready, changed = [await staff.scenario.ready_vendor(AMOUNT) for _ in range(2)]
    for vendor in (ready, changed):
        await staff.scenario.payout(vendor, AMOUNT)
    assert await _kinds(staff, "finance_maker") == {"payouts_to_dispatch": 2}
    # A dispatch skips it: the account is no longer the one of the request.
    await staff.sandbox.name_account("058", "9876543210", changed.legal_name)
    assert (await staff.scenario.put_bank_details(changed, "9876543210")).json()["data"]["verified"] is True
    assert await _kinds(staff, "finance_maker") == {"payouts_to_dispatch": 1}
    for role in ("finance_checker", "ops_oncall", "auditor"):
        assert await _kinds(staff, role) == {}
    await staff.scenario.dispatch(uuid4())
    # The skipped one has an exception, which waits for finance.
    assert await _kinds(staff, "finance_maker") == {"payout_exceptions": 1}


async def test_a_vendor_sees_only_own_payouts_among_those_to_dispatch(staff: Staff) -> None:
    one, other = [await staff.scenario.ready_vendor(AMOUNT) for _ in range(2)]
    payouts = [await staff.scenario.payout(vendor, AMOUNT) for vendor in (one, other)]
    headers = staff.scenario.headers(one.owner, **one.claims())
    listed = await staff.scenario.client.get("/api/payouts?awaiting=dispatch", headers=headers)
    assert [row["id"] for row in listed.json()["data"]] == payouts[:1]
    assert await work_of(staff.scenario.client, headers) == {}


async def test_an_exception_waits_for_who_may_close_it_until_its_deadline(staff: Staff) -> None:
    await staff.failed()
    [exception] = (await staff.get("/api/payout-exceptions")).json()["data"]
    for role in ("finance_maker", "ops_oncall"):
        waiting = (await _work(staff, role))["payout_exceptions"]
        assert (waiting["count"], waiting["oldestAt"], waiting["respondBy"]) == (
            1,
            exception["openedAt"],
            exception["respondBy"],
        )
    assert await _kinds(staff, "finance_checker") == {}


async def test_a_reconciliation_waits_for_another_checker_than_its_maker(staff: Staff) -> None:
    reconciliation = await staff.prepared(await staff.failed())
    assert await _kinds(staff, "finance_checker") == {"reconciliations_to_approve": 1}
    assert await _kinds(staff, "finance_checker", user=staff.maker) == {}
    assert (await staff.approve(reconciliation)).status_code == 200
    assert await _kinds(staff, "finance_checker") == {}


async def test_a_release_of_an_account_waits_for_another_checker_than_its_maker(staff: Staff) -> None:
    vendor, maker = await staff.scenario.ready_vendor(AMOUNT), new_id()
    assert (await quarantine_account(staff.scenario, vendor)).status_code == 200
    assert await _kinds(staff, "finance_checker") == {}
    release = (await prepare_release(staff.scenario, vendor, by=maker)).json()["data"]
    assert await _kinds(staff, "finance_checker") == {"bank_detail_releases_to_approve": 1}
    assert await _kinds(staff, "finance_maker", "finance_checker", user=maker) == {}
    for role in ("finance_maker", "auditor", "ops_oncall"):
        assert await _kinds(staff, role) == {}
    assert (await decide_release(staff.scenario, release)).status_code == 200
    assert await _kinds(staff, "finance_checker") == {}


async def test_a_prepared_run_waits_for_another_checker_than_its_maker(staff: Staff) -> None:
    await staff.scenario.payout(await staff.scenario.ready_vendor(AMOUNT), AMOUNT)
    preview = await prepare_run(staff)
    assert await _kinds(staff, "finance_checker") == {"payout_runs_to_approve": 1}
    assert await _kinds(staff, "finance_checker", user=staff.maker) == {}
    assert (await approve_run(staff, preview)).status_code == 200
    assert await _kinds(staff, "finance_checker") == {}
    app = staff.scenario.app
    acted = [
        await own_actions_of(app.client, app.headers(user, roles=("finance_checker",)))
        for user in (staff.maker, staff.checker)
    ]
    assert acted[0] == [("payout_run_prepared", preview["batchId"])]
    assert ("payout_run_approved", preview["batchId"]) in acted[1]


async def test_staff_read_what_they_did_about_payouts(staff: Staff) -> None:
    case = await staff.reversed()
    reconciliation = await staff.reconcile(case)

    async def actions(user: UUID, role: str) -> list[tuple[str, str]]:
        app = staff.scenario.app
        return await own_actions_of(app.client, app.headers(user, roles=(role,)))

    assert await actions(staff.maker, "finance_maker") == [("reconciliation_prepared", reconciliation["id"])]
    assert await actions(staff.checker, "finance_checker") == [("reconciliation_approved", reconciliation["id"])]
    assert await actions(staff.operator, "ops_oncall") == []
