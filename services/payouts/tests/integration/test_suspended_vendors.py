"""A suspended vendor's payouts are held until it is reinstated (contract section 10)."""

from uuid import UUID

import pytest

from common.primitives.ids import new_id
from contracts.identity import VendorApproved, VendorChanged, VendorReinstated, VendorSuspended

KEYS = [UUID(f"6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f{number:02x}") for number in range(4)]


def news(event, vendor, **more):
    return event(
        vendor_id=vendor.id,
        owner_user_id=vendor.owner,
        business_name="A shop",
        legal_name=vendor.legal_name,
        campus_id=new_id(),
        **more,
    )


async def suspend(story, vendor, **delivery):
    return await story.service.hear(news(VendorSuspended, vendor, reason="Complaints"), **delivery)


async def reinstate(story, vendor, **delivery):
    return await story.service.hear(news(VendorReinstated, vendor), **delivery)


async def is_suspended(story, vendor):
    [row] = await story.service.fetch("SELECT suspended FROM vendors WHERE id = $1", vendor.id)
    return row["suspended"]


async def test_no_payout_is_asked_for_or_sent_while_the_vendor_is_suspended(story, sandbox):
    vendor, other = await story.ready_vendor(1_000), await story.ready_vendor(1_000)
    held, sent = await story.payout(vendor, 400), await story.payout(other, 300)
    await suspend(story, vendor)
    refused = await story.ask(vendor, 100)
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert "suspended" in refused.json()["detail"]
    assert (await story.wallet(vendor))["availableMinor"] == 600
    assert len(await story.service.published("payouts.payout_requested.v1")) == 2
    batch = (await story.dispatch(KEYS[0])).json()["data"]
    assert [transfer["payoutId"] for transfer in batch["transfers"]] == [sent]
    assert batch["skipped"] == [{"payoutId": held, "reason": "vendor_suspended"}]
    named = (await story.dispatch(KEYS[1], payoutIds=[held])).json()["data"]
    assert (named["submitted"], named["skipped"]) == (0, [{"payoutId": held, "reason": "vendor_suspended"}])
    assert len(await sandbox.transfers()) == 1
    await reinstate(story, vendor)
    assert (await story.ask(vendor, 100)).status_code == 201
    assert (await story.dispatch(KEYS[2], payoutIds=[held])).json()["data"]["submitted"] == 1


@pytest.mark.parametrize("order", [(2, 3), (3, 2)])
async def test_the_later_word_of_a_suspension_counts_whichever_arrives_first(story, order):
    vendor = await story.vendor()
    said = {2: suspend, 3: reinstate}
    for sequence in order:
        await said[sequence](story, vendor, sequence=sequence)
    assert await is_suspended(story, vendor) is False
    await suspend(story, vendor, sequence=4)
    assert await is_suspended(story, vendor) is True


async def test_a_changed_name_neither_ends_a_suspension_nor_makes_it_stale(story):
    vendor = await story.vendor()
    await story.service.hear(news(VendorChanged, vendor), sequence=3)
    await suspend(story, vendor, sequence=2)
    assert await is_suspended(story, vendor) is True
    await story.service.hear(news(VendorChanged, vendor), sequence=4)
    assert await is_suspended(story, vendor) is True


async def test_a_suspension_that_comes_before_the_approval_stands(story):
    vendor = await story.vendor()
    stranger = type(vendor)(new_id(), new_id())
    await suspend(story, stranger, sequence=2)
    await story.service.hear(news(VendorApproved, stranger), sequence=1)
    assert await is_suspended(story, stranger) is True


async def test_a_suspension_delivered_again_after_the_reinstatement_changes_nothing(story):
    vendor = await story.vendor()
    first = await suspend(story, vendor, sequence=2)
    await reinstate(story, vendor, sequence=3)
    await suspend(story, vendor, sequence=2, event_id=first.event_id)
    assert await is_suspended(story, vendor) is False
