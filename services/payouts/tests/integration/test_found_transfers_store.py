"""The store of transfers that only the gateway has: what is known, and which payout one may belong to."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from common.primitives.ids import new_id
from payouts.domain.found_transfers import Candidate, ListedTransfer
from payouts.store import found_transfers
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import Staff
from .stored import sent_pair


def listed(scenario: Scenario, reference: str, amount_minor: int = 100, **changes: Any) -> ListedTransfer:
    return replace(
        ListedTransfer(reference, "TRF_1", "success", amount_minor, "NGN", "0123456785", "058", scenario.clock.now()),
        **changes,
    )


def reference() -> str:
    return f"po-{new_id().hex}"


async def test_known_are_recorded_attempts_and_explained_transfers(scenario: Scenario, sandbox: Sandbox) -> None:
    own, other = await sent_pair(scenario, sandbox)
    now = scenario.clock.now()
    still_open, explained, another = "by-hand-1", "by-hand-2", "by-hand-3"
    async with scenario.unit_of_work() as uow:
        for name, outcome in ((still_open, "open"), (explained, "open"), (another, "open")):
            await found_transfers.save_found(uow, listed(scenario, name), outcome, None, now)
        for name in (explained, another):
            assert await found_transfers.save_explained(uow, name, "a ticket")
            assert not await found_transfers.save_explained(uow, name, "another ticket")
        known = await found_transfers.list_known_references(uow, [own.reference, still_open, explained, "unknown"])
        assert known == {own.reference, explained}
        assert await found_transfers.is_known(uow, own.reference)
        assert not await found_transfers.is_known(uow, still_open)
        [left] = await found_transfers.list_open(uow)
        assert (left.reference, left.amount_minor, left.account_last4, left.bank_code) == (
            still_open,
            100,
            "6785",
            "058",
        )
        assert await found_transfers.count_open(uow) == 1
        # What staff have explained stays explained, whatever the gateway lists later.
        await found_transfers.save_found(uow, listed(scenario, explained, status="failed"), "taken", own.payout_id, now)
        [row] = await uow.fetch("SELECT outcome, status FROM found_transfers WHERE reference = $1", explained)
        assert tuple(row) == ("explained", "success")
        await found_transfers.save_found(uow, listed(scenario, still_open), "taken", own.payout_id, now)
        assert await found_transfers.count_open(uow) == 0
    assert other.reference not in known


async def test_an_account_belongs_to_each_vendor_who_ever_had_it_at_that_bank(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    numbers = scenario.dependencies.account_numbers
    vendors = [await scenario.ready_vendor(100) for _ in range(2)]
    await sandbox.name_account("044", "1234567890", "OBI ADA VENTURES")
    assert (await scenario.put_bank_details(vendors[0], "1234567890", "044")).status_code == 200
    async with scenario.unit_of_work() as uow:

        async def owners(number: str, bank_code: str) -> dict[UUID, UUID]:
            fingerprint = numbers.fingerprint(bank_code, number)
            found = await found_transfers.list_owners(uow, fingerprint, number, bank_code)
            return {owner.vendor_id: owner.version_id for owner in found}

        assert set(await owners("0123456785", "058")) == {vendor.id for vendor in vendors}
        assert set(await owners("1234567890", "044")) == {vendors[0].id}
        assert await owners("1234567890", "058") == {}
        # The previous release wrote numbers in plain text: there the bank is compared too.
        version = (await owners("1234567890", "044"))[vendors[0].id]
        await uow.execute(
            "UPDATE bank_detail_versions SET account_number = '1234567890', account_sealed = NULL, "
            "account_fingerprint = NULL "
            "WHERE id = $1",
            version,
        )
        assert await owners("1234567890", "044") == {vendors[0].id: version}
        assert await owners("1234567890", "058") == {}
        assert await owners("1234567891", "044") == {}
        assert await found_transfers.find_owner(uow, vendors[1].id) == vendors[1].owner
        assert await found_transfers.find_owner(uow, new_id()) is None


async def test_a_candidate_is_a_pending_payout_of_that_vendor_and_amount(scenario: Scenario, sandbox: Sandbox) -> None:
    staff = Staff(scenario, sandbox)
    other = await scenario.ready_vendor(1_000)
    vendor = await scenario.ready_vendor(200_000)
    await scenario.payout(other, 300)
    another_amount = UUID(await scenario.payout(vendor, 301))
    case = await staff.dispatched(vendor)
    assert (await staff.dispatched(vendor)).payout_id
    paid = await staff.dispatched(vendor)
    await staff.succeeds(paid.reference)
    now = scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        own = UUID(case.payout_id)
        found = await found_transfers.list_candidates(uow, vendor.id, 40_000)
        assert len(found) == 2
        [candidate] = [one for one in found if one.payout_id == own]
        assert candidate == Candidate(own, 0, ((case.reference, "paystack"),), True)
        [unsent] = await found_transfers.list_candidates(uow, vendor.id, 301)
        assert unsent == Candidate(another_amount, 0, (), False)
        assert await found_transfers.list_candidates(uow, vendor.id, 302) == []
        assert await found_transfers.list_candidates(uow, other.id, 40_000) == []
        lock = found_transfers.lock_candidate
        assert await lock(uow, candidate)
        assert await lock(uow, unsent)
        for changed in (replace(candidate, retry_count=1), replace(candidate, has_present_attempt=False),
                        replace(unsent, has_present_attempt=True)):  # fmt: skip
            assert not await lock(uow, changed)
        assert not await lock(uow, Candidate(UUID(paid.payout_id), 0, (), True))
        await uow.execute("UPDATE payout_requests SET retry_count = 1 WHERE id = $1", own)
        assert await lock(uow, Candidate(own, 1, (), False))
        assert not await lock(uow, Candidate(own, 1, (), True))
        [one] = [one for one in await found_transfers.list_candidates(uow, vendor.id, 40_000) if one.payout_id == own]
        assert (one.retry_count, one.has_present_attempt) == (1, False)
        # A found transfer becomes the next attempt, under its own reference.
        found_reference, transfer_id = reference(), new_id()
        before = await uow.fetch("SELECT * FROM payout_requests WHERE id <> $1 ORDER BY id", own)
        await found_transfers.save_found_attempt(uow, own, 1, transfer_id, found_reference, now, "flutterwave")
        [attempt] = await uow.fetch("SELECT * FROM payout_transfers WHERE payout_id = $1 AND attempt = 2", own)
        assert (attempt["id"], attempt["reference"], attempt["status"]) == (transfer_id, found_reference, "unknown")
        assert (attempt["submissions"], attempt["due_at"], attempt["gateway"]) == (1, now, "flutterwave")
        assert await uow.fetch("SELECT * FROM payout_requests WHERE id <> $1 ORDER BY id", own) == before
        await found_transfers.save_found(uow, listed(scenario, found_reference), "taken", own, now)
        assert await found_transfers.count_unsettled(uow) == 1
        await uow.execute("UPDATE payout_transfers SET status = 'success' WHERE id = $1", transfer_id)
        assert await found_transfers.count_unsettled(uow) == 0


async def test_a_comparison_is_due_at_its_time_and_at_once_after_a_restore(scenario: Scenario) -> None:
    now = scenario.clock.now()
    again, recheck, moment = now + timedelta(hours=1), now + timedelta(minutes=1), timedelta(microseconds=1)
    async with scenario.unit_of_work() as uow:
        claim = found_transfers.claim_comparison
        assert await claim(uow, now, again, recheck)
        assert not await claim(uow, now, again, recheck)
        assert not await claim(uow, again - moment, again, recheck)
        assert await claim(uow, again, again + timedelta(hours=1), recheck)
        assert await found_transfers.transfers_are_compared(uow)
        await uow.execute("UPDATE transfer_comparison SET place = 'another/00000001'")
        assert not await found_transfers.transfers_are_compared(uow)
        # Whatever was planned: at once, and soon again.
        assert await claim(uow, now, again, recheck)
        assert not await claim(uow, now, again, recheck)
        assert not await claim(uow, recheck - moment, again, recheck)
        assert await claim(uow, recheck, again, recheck + timedelta(minutes=1))
        comparison = await found_transfers.read_comparison(uow)
        assert not comparison.is_compared
        await found_transfers.save_compared(uow, comparison.timeline, now, again)
        comparison = await found_transfers.read_comparison(uow)
        assert (comparison.is_compared, comparison.compared_until) == (True, now)
