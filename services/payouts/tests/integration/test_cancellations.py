"""A vendor takes back a payout that was never sent (contract section 8; the door is this service's own)."""

import asyncio
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from payouts.use_cases.payouts.cancel_payout import cancel_payout

from .returns_desk import AMOUNT, Case, Desk


@pytest.fixture
def desk(shared_story, shared_sandbox):
    return Desk(shared_story, shared_sandbox)


async def asked_for(desk):
    vendor = await desk.story.ready_vendor(AMOUNT)
    return Case(vendor, await desk.story.payout(vendor, AMOUNT), "")


async def cancel(desk, case, vendor=None, body=None):
    vendor = vendor or case.vendor
    headers = desk.story.service.headers(vendor.owner, **vendor.claims())
    return await desk.story.service.client.post(f"/api/payouts/{case.payout_id}/cancel", json=body, headers=headers)


async def acts(desk, case):
    rows = await desk.story.service.fetch("SELECT act, acted_by FROM payout_acts WHERE payout_id = $1", case.payout_id)
    return [tuple(row) for row in rows]


async def test_a_payout_to_an_account_that_was_changed_is_cancelled_and_asked_for_again(desk):
    case = await asked_for(desk)
    await desk.sandbox.name_account("058", "0123456789", case.vendor.legal_name)
    assert (await desk.story.put_bank_details(case.vendor, "0123456789")).json()["data"]["verified"] is True
    cancelled = (await cancel(desk, case, body={})).json()["data"]
    assert (cancelled["status"], cancelled["transferFailure"]) == ("failed", "cancelled by the vendor")
    wallet = await desk.story.wallet(case.vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (AMOUNT, 0)
    assert await desk.returns(case) == ["restitution"]
    assert (await desk.story.ask(case.vendor, AMOUNT)).status_code == 201
    assert (await cancel(desk, case)).status_code == 200
    assert await acts(desk, case) == [("cancelled", case.vendor.owner)]
    assert await desk.findings(case) == []


async def test_a_reserved_attempt_that_is_held_is_withdrawn_with_its_payout(desk):
    case = await asked_for(desk)
    later = await desk.story.service.fetch("SELECT now() + interval '100 years' AS at")
    await desk.story.service.fetch(
        "UPDATE vendor_bank_details SET payouts_from = $2 WHERE vendor_id = $1", case.vendor.id, later[0]["at"]
    )
    skipped = (await desk.story.dispatch(uuid4(), payoutIds=[case.payout_id])).json()["data"]["skipped"]
    assert [line["reason"] for line in skipped] == ["bank_details_cooling"]
    assert (await cancel(desk, case)).status_code == 200
    assert await desk.sent(case) == []


async def on_its_way(desk):
    return await desk.dispatched()


async def failed(desk):
    return await desk.failed()


async def reset(desk):
    case = await desk.failed()
    assert (await desk.reset(case)).status_code == 200
    return case


async def processed(desk):
    case = await desk.dispatched()
    await desk.succeeds(case.reference)
    return case


async def restituted(desk):
    case = await desk.failed()
    await desk.reconcile(case)
    return case


@pytest.mark.parametrize("situation", [on_its_way, failed, reset, processed, restituted])
async def test_what_was_sent_is_cancelled_no_more(desk, situation):
    case = await situation(desk)
    before = await desk.payout(case), await desk.story.wallet(case.vendor)
    refused = await cancel(desk, case)
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert (await desk.payout(case), await desk.story.wallet(case.vendor)) == before
    assert ("cancelled", case.vendor.owner) not in await acts(desk, case)


async def test_another_vendors_payout_is_no_payout_and_staff_cannot_cancel(desk):
    case, other = await asked_for(desk), await desk.story.vendor()
    assert (await cancel(desk, case, other)).status_code == 404
    assert (await cancel(desk, Case(case.vendor, str(new_id()), ""))).status_code == 404
    assert (await cancel(desk, case, body={"reason": "x"})).status_code == 422
    staff = await desk.post(f"/api/payouts/{case.payout_id}/cancel", desk.maker, "finance_maker", {})
    assert (staff.status_code, staff.json()["code"]) == (403, "AUTH_FORBIDDEN")
    assert (await desk.payout(case))["status"] == "pending"


async def test_a_dispatch_and_a_cancellation_at_once_send_or_return_and_never_both(desk):
    cases = [await asked_for(desk) for _ in range(6)]
    both = [
        asyncio.gather(desk.story.dispatch(uuid4(), payoutIds=[case.payout_id]), cancel(desk, case)) for case in cases
    ]
    for case, (_, cancelled) in zip(cases, await asyncio.gather(*both), strict=True):
        assert (cancelled.status_code, len(await desk.sent(case))) in {(200, 0), (409, 1)}
        assert await desk.returns(case) == (["restitution"] if cancelled.status_code == 200 else [])


async def test_a_crash_before_the_commit_cancels_nothing(desk):
    case = await asked_for(desk)

    class Crash(Exception):
        pass

    with pytest.raises(Crash):
        async with desk.story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            now = desk.story.clock.now()
            await cancel_payout(uow, UUID(case.payout_id), case.vendor.id, case.vendor.owner, now)
            raise Crash
    assert (await desk.payout(case))["status"] == "pending"
    assert (await acts(desk, case), await desk.returns(case)) == ([], [])
