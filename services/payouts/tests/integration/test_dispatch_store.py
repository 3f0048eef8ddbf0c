"""The store of payouts and batches: which payouts wait, which can be sent, and what a batch records of its own ones."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from common.primitives.ids import new_id
from payouts.domain.dispatch import LEASE, PlanLine
from payouts.store import payouts, wallets
from payouts.store.payouts import Batch
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor, released
from .dispatch_steps import hold
from .staff import Staff
from .steps import charge_disputed, skip_reason


async def waiting(scenario: Scenario, vendor: Vendor, amount_minor: int = 100) -> UUID:
    return UUID(await scenario.payout(vendor, amount_minor))


async def test_the_payouts_that_can_be_sent_come_first_and_are_counted(scenario: Scenario, sandbox: Sandbox) -> None:
    """One payout for each reason that keeps it from being sent; they are older than the one that can be sent."""
    staff = Staff(scenario, sandbox)
    held: dict[str, UUID] = {}
    suspended = await scenario.ready_vendor(1_000)
    held["vendor suspended"] = await waiting(scenario, suspended)
    unverified = await scenario.ready_vendor(1_000)
    held["details unverified"] = await waiting(scenario, unverified)
    changed = await scenario.ready_vendor(1_000)
    held["another account since"] = await waiting(scenario, changed)
    await sandbox.name_account("044", "1234567890", "OBI ADA VENTURES")
    assert (await scenario.put_bank_details(changed, "1234567890", "044")).status_code == 200
    cooling = await scenario.ready_vendor(1_000)
    held["details changed recently"] = await waiting(scenario, cooling)
    owing = await scenario.ready_vendor(1_000)
    held["debt"] = await waiting(scenario, owing, 1_000)
    await scenario.receive(charge_disputed(owing, new_id(), outcome="lost", from_vendor_minor=900))
    odd = await scenario.ready_vendor(1_000)
    await scenario.app.deliver_unsigned(released(odd, 500))
    held["wallet not covered"] = await waiting(scenario, odd)
    assert await skip_reason(scenario, str(held["wallet not covered"])) == "credit_not_released"
    sent, failed = await staff.dispatched(), await staff.failed()
    await staff.succeeds((await staff.dispatched()).reference)
    able = await scenario.ready_vendor(1_000)
    ended, ready = await waiting(scenario, able), await waiting(scenario, able)
    await scenario.fetch("UPDATE payout_requests SET status = 'failed' WHERE id = $1 RETURNING 1", ended)
    await hold(scenario, suspended, "vendor_suspended")
    await hold(scenario, unverified, "details")
    now = scenario.clock.now()
    tomorrow = now + timedelta(days=1)
    await scenario.fetch(
        "UPDATE vendor_bank_details SET payouts_from = $2 WHERE vendor_id = $1 RETURNING 1", cooling.id, tomorrow
    )
    async with scenario.unit_of_work() as uow:
        found = await payouts.list_waiting(uow, 100, now)
        assert found[0] == ready
        assert set(found) == {ready, *held.values()}
        assert UUID(sent.payout_id) not in found
        assert UUID(failed.payout_id) not in found
        assert len(await payouts.list_waiting(uow, 2, now)) == 2
        assert await payouts.count_ready(uow, now) == 1
        assert await payouts.count_ready(uow, tomorrow) == 2
        covers: Any = dict.fromkeys([suspended.id, unverified.id, changed.id, cooling.id, owing.id], "covered")
        named = [held[name] for name in held if name != "wallet not covered"]
        vendors = await payouts.list_vendors_of(uow, named)
        assert vendors == sorted(covers)
        candidates = {
            candidate.payout_id: candidate for candidate in await payouts.list_candidates(uow, named, covers, now)
        }
    assert set(candidates) == set(named)
    assert {
        name: [candidates[held[name]].vendor_suspended, candidates[held[name]].bank_details_valid,
               candidates[held[name]].bank_details_cooling, candidates[held[name]].vendor_has_debt]
        for name in held
        if name != "wallet not covered"
    } == {
        "vendor suspended": [True, True, False, False],
        "details unverified": [False, False, False, False],
        "another account since": [False, False, True, False],
        "details changed recently": [False, True, True, False],
        "debt": [False, True, False, True],
    }  # fmt: skip


async def test_a_held_attempt_waits_and_is_reserved_again_under_its_reference(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    other, own = [await waiting(scenario, await scenario.ready_vendor(1_000)) for _ in range(2)]
    now = scenario.clock.now()
    async with scenario.unit_of_work() as uow:

        async def batch() -> UUID:
            made = Batch(new_id(), b"x", None)
            await payouts.save_batch_if_new(
                uow, made, scenario.operator_id, uuid4(), dry_run=False, balance_minor=0, at=now
            )
            return made.id

        async def attempts(payout_id: UUID) -> list[Any]:
            statement = "SELECT * FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt"
            return list(await uow.fetch(statement, payout_id))

        async def reference_of(payout_id: UUID) -> str | None:
            row = await uow.fetch_row("SELECT transfer_reference FROM payout_requests WHERE id = $1", payout_id)
            assert row is not None
            return row["transfer_reference"]

        first = await batch()
        await payouts.reserve_transfers(uow, first, [other], now, "paystack")
        second = await batch()
        await payouts.reserve_transfers(uow, second, [own], now, "paystack")
        [attempt] = await attempts(own)
        assert (attempt["attempt"], attempt["status"], attempt["batch_id"]) == (1, "reserved", second)
        assert (attempt["due_at"], await reference_of(own)) == (now + LEASE, attempt["reference"])
        [others] = await attempts(other)
        assert await reference_of(other) == others["reference"]
        assert set(await payouts.list_waiting(uow, 10, now)) == set()
        # One with a lease, or that is no longer reserved, stays in its batch.
        third = await batch()
        [before] = await uow.fetch("SELECT * FROM payout_requests WHERE id = $1", other)
        for change in ("due_at = $2", "due_at = NULL, status = 'failed'"):
            await uow.execute(
                f"UPDATE payout_transfers SET {change} WHERE id = $1 AND $2::timestamptz IS NOT NULL",
                attempt["id"],
                now,
            )
            await payouts.reserve_transfers(uow, third, [own], now, "paystack")
            assert [row["batch_id"] for row in await attempts(own)] == [second]
        await uow.execute("UPDATE payout_transfers SET status = 'reserved' WHERE id = $1", attempt["id"])
        assert await payouts.list_waiting(uow, 10, now) == [own]
        await payouts.reserve_transfers(uow, third, [own], now, "flutterwave")
        [again] = await attempts(own)
        assert (again["id"], again["reference"]) == (attempt["id"], attempt["reference"])
        assert (again["batch_id"], again["due_at"], again["gateway"]) == (third, now + LEASE, "flutterwave")
        # After a reset the next attempt has its own reference, and the payout names that one.
        await uow.execute("UPDATE payout_requests SET retry_count = 1 WHERE id = $1", own)
        fourth = await batch()
        await payouts.reserve_transfers(uow, fourth, [own], now, "paystack")
        assert [(row["attempt"], row["batch_id"]) for row in await attempts(own)] == [(1, third), (2, fourth)]
        assert await reference_of(own) == (await attempts(own))[1]["reference"]
        # A batch names its present attempts only.
        for earlier in (third, fourth):
            await payouts.reserve_transfers(uow, earlier, [], now + timedelta(minutes=1), "paystack")
            assert await reference_of(own) == (await attempts(own))[1]["reference"]
        assert await attempts(other) == [others]
        assert await uow.fetch("SELECT * FROM payout_requests WHERE id = $1", other) == [before]


async def test_a_batch_belongs_to_its_caller_and_key_and_keeps_its_first_response(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    skipped_payout, planned = await waiting(scenario, vendor), await waiting(scenario, vendor)
    now, by, key = scenario.clock.now(), new_id(), uuid4()
    own, other = Batch(new_id(), b"own", None), Batch(new_id(), b"other", None)
    async with scenario.unit_of_work() as uow:
        how: Any = {"dry_run": False, "balance_minor": 0, "at": now}
        assert await payouts.save_batch_if_new(uow, other, new_id(), key, **how)
        assert await payouts.save_batch_if_new(uow, own, by, key, **how)
        assert not await payouts.save_batch_if_new(uow, Batch(new_id(), b"x", None), by, key, **how)
        assert await payouts.find_batch(uow, by, key) == own
        assert await payouts.find_batch(uow, by, uuid4()) is None
        assert await payouts.find_batch(uow, new_id(), key) is None
        lines = [PlanLine(skipped_payout, 100, None), PlanLine(planned, 100, None)]
        for batch in (other, own):
            await payouts.save_plan(uow, batch.id, lines, "reserved")
        await payouts.skip_line(uow, own.id, skipped_payout, "not_pending")
        await payouts.skip_line(uow, own.id, skipped_payout, "already_dispatched")
        outcomes = await uow.fetch("SELECT batch_id, payout_id, reason FROM dispatch_lines WHERE outcome = 'skipped'")
        assert [tuple(row) for row in outcomes] == [(own.id, skipped_payout, "not_pending")]
        await payouts.save_remaining(uow, own.id, 7)
        remaining = {row["id"]: row["remaining"] for row in await uow.fetch("SELECT * FROM dispatch_batches")}
        assert (remaining[own.id], remaining[other.id] == 7) == (7, False)
        assert await payouts.finish_batch(uow, own.id, {"first": 1}, now) == {"first": 1}
        assert await payouts.finish_batch(uow, own.id, {"second": 2}, now) == {"first": 1}
        found = await payouts.find_batch(uow, by, key)
        assert found is not None
        assert found.response == {"first": 1}
        assert [row["answer"] for row in await uow.fetch("SELECT * FROM dispatch_batches WHERE id = $1", other.id)] == [
            None
        ]


async def test_a_payout_is_found_by_the_key_of_its_own_user(scenario: Scenario, sandbox: Sandbox) -> None:
    key = uuid4()
    made = []
    for amount_minor in (200, 300):
        vendor = await scenario.ready_vendor(1_000)
        assert (await scenario.request_payout(vendor, amount_minor, key)).status_code == 201
        made.append(vendor)
    async with scenario.unit_of_work() as uow:
        for vendor, amount_minor in zip(made, (200, 300), strict=True):
            facts = await wallets.read_for_payout(uow, vendor.id, vendor.owner, key)
            assert facts.requested is not None
            assert facts.requested.amount_minor == amount_minor
            assert facts.wallet.available_minor == 1_000 - amount_minor
            for unknown in (uuid4(), None):
                facts = await wallets.read_for_payout(uow, vendor.id, vendor.owner, unknown)
                assert facts.requested is None
