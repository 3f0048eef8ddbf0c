"""Each lock of the store holds the rows that it names, and no other."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts.domain.found_transfers import Candidate
from payouts.store import (
    bank_detail_releases,
    bank_details,
    dispatch_approvals,
    exceptions,
    found_transfers,
    payouts,
    projections,
    reconciliations,
    returns,
    schedules,
    transfers,
    wallets,
)
from testkit.locks import Locks, assert_locks, waits_for
from testkit.sandbox import Sandbox

from .conftest import Scenario, released
from .dispatch_steps import prepare_run
from .staff import Staff
from .steps import DAILY, prepared_release, put_schedule, skip_reason


def locks_of(scenario: Scenario) -> Locks:
    now = scenario.clock.now()

    async def lock_payouts(uow: UnitOfWork, payout_id: Any) -> bool:
        await payouts.lock_payouts(uow, [payout_id])
        return True

    async def lock_wallet_at_start(uow: UnitOfWork, vendor_id: UUID) -> bool:
        await uow.execute(wallets.lock_statement(vendor_id))
        return True

    return {
        "wallet": ("SELECT DISTINCT vendor_id FROM payout_requests", wallets.lock_wallet),
        "wallet at the start": (
            "SELECT DISTINCT vendor_id FROM payout_requests",
            lock_wallet_at_start,
        ),
        "bank details": (
            "SELECT vendor_id FROM vendor_bank_details",
            lambda uow, vendor_id: bank_details.lock_bank_details(
                uow, scenario.dependencies.account_numbers, vendor_id
            ),
        ),
        "payout": ("SELECT id FROM payout_requests", returns.lock_payout_with_attempts),
        "payouts": ("SELECT id FROM payout_requests", lock_payouts),
        "candidate": (
            "SELECT id FROM payout_requests WHERE status = 'pending' AND transfer_reference IS NOT NULL",
            lambda uow, payout_id: found_transfers.lock_candidate(uow, Candidate(payout_id, 0, (), True)),
        ),
        "transfer": (
            "SELECT id FROM payout_transfers",
            lambda uow, transfer_id: uow.execute(transfers.lock_statement(transfer_id)),
        ),
        "transfer by its reference": (
            "SELECT reference FROM payout_transfers",
            transfers.lock_transfer,
        ),
        "batch": (
            "SELECT id FROM dispatch_batches",
            lambda uow, batch_id: exceptions.count_related_exceptions(uow, batch_id, new_id(), new_id(), now),
        ),
        "approval of a run": ("SELECT batch_id FROM dispatch_approvals", dispatch_approvals.lock_approval),
        "exception": ("SELECT id FROM payout_exceptions", exceptions.lock_exception),
        "open exception of a payout": (
            "SELECT payout_id FROM payout_exceptions WHERE payout_id IS NOT NULL",
            exceptions.lock_open_exception,
        ),
        "open exception of a vendor": (
            "SELECT vendor_id FROM payout_exceptions WHERE payout_id IS NULL",
            exceptions.lock_open_exception_of_vendor,
        ),
        "open exceptions of a batch": (
            "SELECT t.batch_id FROM payout_transfers AS t JOIN payout_exceptions AS e ON e.transfer_id = t.id",
            exceptions.lock_open_exceptions_of_batch,
        ),
        "reconciliation": (
            "SELECT id FROM reconciliations",
            lambda uow, reconciliation_id: reconciliations.find_reconciliation(uow, reconciliation_id, lock=True),
        ),
        "release of a quarantined account": (
            "SELECT id FROM bank_detail_releases",
            lambda uow, release_id: bank_detail_releases.find_release(uow, release_id, lock=True),
        ),
        "schedule": ("SELECT vendor_id FROM payout_schedules", schedules.lock_schedule),
    }


async def test_a_lock_holds_its_own_rows_only(scenario: Scenario, sandbox: Sandbox) -> None:
    staff = Staff(scenario, sandbox)
    for _ in range(2):
        case = await staff.failed()
        await prepared_release(scenario, sandbox)
        await staff.prepared(case)
        await scenario.payout(await scenario.ready_vendor(100), 100)
        await prepare_run(staff)
        assert (await put_schedule(scenario, case.vendor, DAILY)).status_code == 200
        odd = await scenario.ready_vendor(1_000)
        await scenario.app.deliver_unsigned(released(odd, 500))
        assert await skip_reason(scenario, await scenario.payout(odd, 100)) == "credit_not_released"
    await assert_locks(scenario.database, locks_of(scenario))


async def test_the_locks_of_one_thing_hold_another(scenario: Scenario, sandbox: Sandbox) -> None:
    """A locked payout keeps its attempts from changing, and only one process compares transfers."""
    case = await Staff(scenario, sandbox).dispatched()
    database, payout_id = scenario.database, UUID(case.payout_id)
    [row] = await scenario.fetch("SELECT id FROM payout_transfers WHERE payout_id = $1", payout_id)
    assert await waits_for(
        database,
        lambda uow: returns.lock_payout_with_attempts(uow, payout_id),
        lambda uow: transfers.schedule_poll(uow, row["id"], None, polled=False),
    )
    # The payout itself too: what locks it first holds its attempts.
    assert await waits_for(
        database,
        lambda uow: returns.lock_payout_with_attempts(uow, payout_id),
        lambda uow: payouts.lock_payouts(uow, [payout_id]),
    )
    assert await waits_for(database, found_transfers.lock_comparison, found_transfers.lock_comparison)


async def test_the_wallet_is_locked_before_the_share_of_an_order(scenario: Scenario) -> None:
    """The share that a waiting transaction will change is still free, though both are one statement."""
    vendor = await scenario.vendor()
    order_id = (await scenario.hold(vendor, 500)).order_id
    free = "SELECT FROM order_shares WHERE order_id = $1 FOR UPDATE SKIP LOCKED"
    shares_free = []

    async def save(uow: UnitOfWork) -> None:
        assert await projections.save_order_share(uow, projections.OrderShare(vendor.id, order_id, 400, 9))

    async def hold_wallet(uow: UnitOfWork) -> None:
        await wallets.lock_wallet_unread(uow, vendor.id)
        fetch_value = uow.fetch_value

        async def observe(statement: str, *values: object) -> object:
            is_blocked = await fetch_value(statement, *values)
            if is_blocked:
                shares_free.append(len(await scenario.database.fetch_for(THE_SERVICE, free, order_id)))
            return is_blocked

        uow.fetch_value = observe  # type: ignore[method-assign]

    assert await waits_for(scenario.database, hold_wallet, save)
    assert shares_free == [1]


async def test_what_one_worker_has_claimed_is_skipped_by_another(scenario: Scenario, sandbox: Sandbox) -> None:
    case = await Staff(scenario, sandbox).dispatched()
    assert (await put_schedule(scenario, case.vendor, DAILY)).status_code == 200
    scenario.clock.advance(timedelta(days=1))
    database, now, gateways = scenario.database, scenario.clock.now(), ["paystack"]
    async with database.unit_of_work(acting_as=THE_SERVICE) as one:
        assert len(await transfers.lock_due_transfers(one, now, 10, gateways)) == 1
        assert (await schedules.claim_due_schedule(one, now)) is not None
        async with database.unit_of_work(acting_as=THE_SERVICE) as other:
            assert await transfers.lock_due_transfers(other, now, 10, gateways) == []
            assert await schedules.claim_due_schedule(other, now) is None
