"""A vendor cancels a payout that was never sent (contract section 8)."""

import asyncio
from uuid import UUID, uuid4

import pytest

from common.primitives.ids import new_id
from payouts.use_cases.payouts.cancel_payout import cancel_payout
from testkit.responses import CONFLICT, FORBIDDEN, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT, Case, Staff


@pytest.fixture
def staff(shared_scenario: Scenario, shared_sandbox: Sandbox):
    return Staff(shared_scenario, shared_sandbox)


async def requested(staff):
    vendor = await staff.scenario.ready_vendor(AMOUNT)
    return Case(vendor, await staff.scenario.payout(vendor, AMOUNT), "")


async def cancel(staff, case, vendor=None, body=None):
    vendor = vendor or case.vendor
    headers = staff.scenario.headers(vendor.owner, **vendor.claims())
    return await staff.scenario.client.post(f"/api/payouts/{case.payout_id}/cancel", json=body, headers=headers)


async def recorded_actions(staff, case):
    rows = await staff.scenario.fetch("SELECT act, acted_by FROM payout_acts WHERE payout_id = $1", case.payout_id)
    return [tuple(row) for row in rows]


async def test_a_payout_to_a_former_account_can_be_cancelled_and_requested_again(staff) -> None:
    case = await requested(staff)
    await staff.sandbox.name_account("058", "0123456789", case.vendor.legal_name)
    assert (await staff.scenario.put_bank_details(case.vendor, "0123456789")).json()["data"]["verified"] is True
    cancelled = (await cancel(staff, case, body={})).json()["data"]
    assert (cancelled["status"], cancelled["transferFailure"]) == ("failed", "cancelled by the vendor")
    wallet = await staff.scenario.wallet(case.vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (AMOUNT, 0)
    assert await staff.returns(case) == ["restitution"]
    assert (await staff.scenario.request_payout(case.vendor, AMOUNT)).status_code == 201
    assert (await cancel(staff, case)).status_code == 200
    assert await recorded_actions(staff, case) == [("cancelled", case.vendor.owner)]
    assert await staff.findings(case) == []


async def test_a_reserved_attempt_that_is_held_is_withdrawn_with_its_payout(staff) -> None:
    case = await requested(staff)
    later = await staff.scenario.fetch("SELECT now() + interval '100 years' AS at")
    await staff.scenario.fetch(
        "UPDATE vendor_bank_details SET payouts_from = $2 WHERE vendor_id = $1", case.vendor.id, later[0]["at"]
    )
    skipped = (await staff.scenario.dispatch(uuid4(), payoutIds=[case.payout_id])).json()["data"]["skipped"]
    assert [line["reason"] for line in skipped] == ["bank_details_cooling"]
    assert (await cancel(staff, case)).status_code == 200
    assert await staff.sent(case) == []


async def on_its_way(staff):
    return await staff.dispatched()


async def failed(staff):
    return await staff.failed()


async def reset(staff):
    case = await staff.failed()
    assert (await staff.reset(case)).status_code == 200
    return case


async def processed(staff):
    case = await staff.dispatched()
    await staff.succeeds(case.reference)
    return case


async def restituted(staff):
    case = await staff.failed()
    await staff.reconcile(case)
    return case


@pytest.mark.parametrize("situation", [on_its_way, failed, reset, processed, restituted])
async def test_a_sent_payout_cannot_be_cancelled(staff, situation) -> None:
    case = await situation(staff)
    before = await staff.payout(case), await staff.scenario.wallet(case.vendor)
    assert error_of(await cancel(staff, case)) == CONFLICT
    assert (await staff.payout(case), await staff.scenario.wallet(case.vendor)) == before
    assert ("cancelled", case.vendor.owner) not in await recorded_actions(staff, case)


async def test_only_the_own_vendor_can_cancel_a_payout(staff) -> None:
    case, other = await requested(staff), await staff.scenario.vendor()
    assert (await cancel(staff, case, other)).status_code == 404
    assert (await cancel(staff, Case(case.vendor, str(new_id()), ""))).status_code == 404
    assert (await cancel(staff, case, body={"reason": "x"})).status_code == 422
    refused = await staff.post(f"/api/payouts/{case.payout_id}/cancel", staff.maker, "finance_maker", {})
    assert error_of(refused) == FORBIDDEN
    assert (await staff.payout(case))["status"] == "pending"


async def test_a_concurrent_dispatch_and_cancellation_send_or_return(staff) -> None:
    cases = [await requested(staff) for _ in range(6)]
    both = [
        asyncio.gather(staff.scenario.dispatch(uuid4(), payoutIds=[case.payout_id]), cancel(staff, case))
        for case in cases
    ]
    for case, (_, cancelled) in zip(cases, await asyncio.gather(*both), strict=True):
        assert (cancelled.status_code, len(await staff.sent(case))) in {(200, 0), (409, 1)}
        assert await staff.returns(case) == (["restitution"] if cancelled.status_code == 200 else [])


async def test_a_crash_before_the_commit_cancels_nothing(staff) -> None:
    case = await requested(staff)

    class Crash(Exception):
        pass

    with pytest.raises(Crash):
        async with staff.scenario.unit_of_work() as uow:
            now = staff.scenario.clock.now()
            await cancel_payout(uow, UUID(case.payout_id), case.vendor.id, case.vendor.owner, now)
            raise Crash
    assert (await staff.payout(case))["status"] == "pending"
    assert (await recorded_actions(staff, case), await staff.returns(case)) == ([], [])
