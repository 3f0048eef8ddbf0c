"""Finance holds one payout and releases it."""

from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import Staff

REASON = {"reason": "the bank asked for a document"}


@pytest.fixture
def staff(scenario: Scenario, sandbox: Sandbox) -> Staff:
    return Staff(scenario, sandbox)


async def act(staff: Staff, payout_id: str, verb: str, role: str = "finance_maker", body=REASON, **how):
    return await staff.post(f"/api/payouts/{payout_id}/{verb}", staff.maker, role, body, **how)


async def test_a_held_payout_is_skipped_until_its_release(scenario: Scenario, staff: Staff) -> None:
    vendor = await scenario.ready_vendor(10_000)
    held, other = await scenario.payout(vendor, 1_000), await scenario.payout(vendor, 2_000)
    shown = data_of(await act(staff, held, "hold"))
    assert shown["hold"]["reason"] == REASON["reason"]
    [delayed] = await scenario.published("payouts.payout_delayed.v1")
    assert (delayed["payoutId"], delayed["cause"], delayed["amountMinor"]) == (held, "held", 1_000)
    sent = data_of(await scenario.dispatch(uuid4()))
    assert [one["payoutId"] for one in sent["transfers"]] == [other]
    assert sent["skipped"] == [{"payoutId": held, "reason": "held"}]
    headers = scenario.headers(vendor.owner, **vendor.claims())
    own = data_of(await scenario.client.get(f"/api/payouts/{held}", headers=headers))
    assert own["hold"]["reason"] == REASON["reason"]
    cancelled = await scenario.client.post(f"/api/payouts/{held}/cancel", headers=headers)
    assert error_of(cancelled) == CONFLICT
    assert data_of(await act(staff, held, "release"))["hold"] is None
    assert data_of(await scenario.dispatch(uuid4()))["submitted"] == 1


async def test_only_a_pending_payout_that_was_not_sent_is_held(scenario: Scenario, staff: Staff) -> None:
    case = await staff.dispatched()
    assert error_of(await act(staff, case.payout_id, "hold")) == CONFLICT
    waiting = await scenario.payout(await scenario.ready_vendor(1_000), 1_000)
    data_of(await act(staff, waiting, "hold"))
    assert error_of(await act(staff, waiting, "hold")) == CONFLICT
    assert (await scenario.read_payout(waiting))["hold"] is not None
    assert error_of(await act(staff, case.payout_id, "release")) == CONFLICT


async def test_only_finance_holds_and_releases(scenario: Scenario, staff: Staff) -> None:
    payout_id = await scenario.payout(await scenario.ready_vendor(1_000), 1_000)
    for verb in ("hold", "release"):
        for role in ("auditor", "ops_oncall", "support_agent", "platform_admin"):
            assert error_of(await act(staff, payout_id, verb, role)) == FORBIDDEN
        assert error_of(await act(staff, payout_id, verb, stepped_up=False)) == STEP_UP_REQUIRED
        assert error_of(await act(staff, payout_id, verb, body={})) == INVALID
        assert error_of(await act(staff, str(new_id()), verb)) == NOT_FOUND
        data_of(await act(staff, payout_id, verb, "finance_checker"))


async def test_payouts_are_filtered_by_date_reference_and_batch(scenario: Scenario, staff: Staff) -> None:
    vendor = await scenario.ready_vendor(10_000)
    first = await scenario.payout(vendor, 1_000)
    sent = data_of(await scenario.dispatch(uuid4()))
    second = await scenario.payout(vendor, 2_000)

    async def found(**filters: str) -> set[str]:
        headers = scenario.headers(new_id(), roles=("auditor",))
        listed = await scenario.client.get("/api/payouts", params=filters, headers=headers)
        return {row["id"] for row in data_of(listed)}

    [transfer] = sent["transfers"]
    assert await found(reference=transfer["reference"]) == {first}
    assert await found(reference=transfer["transferCode"]) == {first}
    assert await found(reference="unknown") == set()
    assert await found(batchId=sent["batchId"]) == {first}
    assert await found(**{"from": "2026-01-01", "to": "2026-01-02"}) == {first, second}
    assert await found(to="2026-01-01") == set()
