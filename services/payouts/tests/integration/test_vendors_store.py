"""The stores of a vendor's bank details, disputed charges, schedule and wallet: each statement is one of its own
vendor.
"""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.database.state_changes import StateChanged
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts.domain.bank_accounts import NameCheck
from payouts.domain.chargebacks import ChargebackUpdate, HoldChange, KnownChargeback, OpenChargeback
from payouts.domain.schedules import Schedule
from payouts.domain.wallet import WalletLine, with_balances
from payouts.store import bank_details, chargebacks, schedules, wallets
from payouts.store.bank_details import BankDetails
from testkit.locks import waits_for
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor
from .stored import sent_pair

NUMBERS = ("0123456785", "1234567890")


def details(scenario: Scenario, vendor: Vendor, number: str = NUMBERS[0], **changes: Any) -> BankDetails:
    encrypted = scenario.dependencies.account_numbers.encrypt(vendor.id, "058", number)
    made = BankDetails(vendor.id, encrypted, number[-4:], "058", "ADA OBI", NameCheck(True, None), True)
    return replace(made, **changes)


async def test_a_vendor_is_known_by_its_own_accounts(scenario: Scenario) -> None:
    other, own = await scenario.vendor(), await scenario.vendor()
    now, by = scenario.clock.now(), new_id()
    numbers = scenario.dependencies.account_numbers
    async with scenario.unit_of_work() as uow:
        known = await bank_details.read_known_accounts(uow, own.id)
        assert (known.last_verified, known.ever_verified, known.quarantined) == (None, False, frozenset())
        await bank_details.save_bank_details(uow, details(scenario, other, NUMBERS[1]), by, now)
        theirs = details(
            scenario, other, NUMBERS[1], payouts_from=now, quarantine_reason="odd", name_check=NameCheck(False, "odd")
        )
        await bank_details.save_bank_details(uow, theirs, by, now)
        stopped = bank_details.QuarantinedAccount(None, theirs.number.fingerprint, "7890", "058")
        await bank_details.save_quarantine(uow, other.id, stopped, None, "odd", by, now)
        assert await bank_details.lock_bank_details(uow, numbers, own.id) is None
        known = await bank_details.read_known_accounts(uow, own.id)
        assert (known.last_verified, known.quarantine_reason, known.payouts_from) == (None, None, None)
        assert (known.ever_verified, known.quarantined) == (False, frozenset())
        unverified = details(scenario, own, name_check=NameCheck(False, "another name"))
        await bank_details.save_bank_details(uow, unverified, by, now)
        known = await bank_details.read_known_accounts(uow, own.id)
        assert (known.last_verified, known.ever_verified) == (None, False)
        verified = details(scenario, own)
        await bank_details.save_bank_details(uow, verified, by, now + timedelta(seconds=1))
        later = details(scenario, own, NUMBERS[1], name_check=NameCheck(False, "another name"))
        await bank_details.save_bank_details(uow, later, by, now + timedelta(seconds=2))
        known = await bank_details.read_known_accounts(uow, own.id)
        assert (known.last_verified, known.ever_verified) == (verified.number.fingerprint, True)
        assert await bank_details.lock_bank_details(uow, numbers, own.id) == later
        assert await bank_details.lock_bank_details(uow, numbers, other.id) == theirs


async def test_the_reason_of_a_quarantine_is_the_newest_of_its_vendor_and_account(scenario: Scenario) -> None:
    other, own = await scenario.ready_vendor(100), await scenario.ready_vendor(100)
    now, by = scenario.clock.now(), new_id()
    numbers = scenario.dependencies.account_numbers
    fingerprints = [numbers.fingerprint("058", number) for number in NUMBERS]
    first, second = [bank_details.QuarantinedAccount(None, fingerprint, "6785", "058") for fingerprint in fingerprints]
    async with scenario.unit_of_work() as uow:
        newest = bank_details.find_newest_quarantine_reason
        assert await newest(uow, own.id, first) is None
        for minutes, vendor, account, reason in (
            (0, own, first, "older"), (1, own, first, "newer"), (2, own, second, "another account"),
            (3, other, first, "another vendor"),
        ):  # fmt: skip
            at = now + timedelta(minutes=minutes)
            await bank_details.save_quarantine(uow, vendor.id, account, None, reason, by, at)
        assert await newest(uow, own.id, first) == "newer"
        # Another reason repeats the present account of this vendor in its history.
        await bank_details.save_newer_reason(uow, own.id, first, "again", by, now)
        rows = await uow.fetch("SELECT vendor_id, reason FROM bank_detail_versions WHERE change = 'quarantined'")
        assert [tuple(row) for row in rows] == [(own.id, "quarantined: again")]


async def test_a_payout_awaits_its_restitution_once(scenario: Scenario, sandbox: Sandbox) -> None:
    own, other = await sent_pair(scenario, sandbox)
    now, second = scenario.clock.now(), new_id()
    numbers = scenario.dependencies.account_numbers
    async with scenario.unit_of_work() as uow:
        awaited, mark = bank_details.find_awaited_restitution, bank_details.mark_restitution_awaited
        assert await mark(uow, other.payout_id, "theirs", now)
        assert await awaited(uow, own.transfer_id) is None
        assert await mark(uow, own.payout_id, "odd account", now)
        assert not await mark(uow, own.payout_id, "again", now)
        assert await awaited(uow, own.transfer_id) == "odd account"
        assert await bank_details.find_present_attempt(uow, own.payout_id) == own.transfer_id
        account = await bank_details.find_account_of_payout(uow, numbers, own.payout_id)
        [row] = await uow.fetch(
            "SELECT bank_details_version_id AS id FROM payout_requests WHERE id = $1", own.payout_id
        )
        assert (account.version_id, account.last4, account.bank_code) == (row["id"], "6785", "058")
        # After a reset the outcome of the first attempt shows nothing.
        await uow.execute("UPDATE payout_requests SET retry_count = 1 WHERE id = $1", own.payout_id)
        assert await awaited(uow, own.transfer_id) is None
        assert await bank_details.find_present_attempt(uow, own.payout_id) is None
        await uow.execute(
            "INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency, "
            "bank_details_version_id, created_at, updated_at, gateway) SELECT $2, payout_id, vendor_id, 2, $3, "
            "'reserved', amount, "
            "currency, bank_details_version_id, created_at, updated_at, gateway FROM payout_transfers WHERE id = $1",
            own.transfer_id, second, f"po-{new_id().hex}",
        )  # fmt: skip
        assert await awaited(uow, second) == "odd account"
        assert await bank_details.find_present_attempt(uow, own.payout_id) == second
        await uow.execute("UPDATE payout_requests SET status = 'failed' WHERE id = $1", own.payout_id)
        assert await awaited(uow, second) is None
        assert await awaited(uow, other.transfer_id) == "theirs"


async def test_plaintext_numbers_of_one_vendor_are_encrypted_together(scenario: Scenario) -> None:
    """The previous release wrote them in plain text."""
    vendors = [await scenario.ready_vendor(100) for _ in range(2)]
    numbers = scenario.dependencies.account_numbers
    assert (await scenario.put_bank_details(vendors[0])).status_code == 200
    tables = ("bank_detail_versions", "vendor_bank_details")

    async def rows() -> dict[str, list[Any]]:
        return {
            f"{table} {number}": await scenario.fetch(
                f"SELECT * FROM {table} WHERE vendor_id = $1 ORDER BY 1", vendor.id
            )
            for table in tables
            for number, vendor in enumerate(vendors)
        }

    encrypted = await rows()
    async with scenario.unit_of_work() as uow:
        assert await bank_details.list_vendors_with_plaintext_numbers(uow, 10) == []
        for table in tables:
            await uow.execute(
                f"UPDATE {table} SET account_number = '0123456785', account_sealed = NULL, account_fingerprint = NULL "
                "WHERE vendor_id = ANY ($1)",
                [vendor.id for vendor in vendors],
            )
    plain = await rows()
    async with scenario.unit_of_work() as uow:
        assert set(await bank_details.list_vendors_with_plaintext_numbers(uow, 10)) == {vendor.id for vendor in vendors}
        assert await bank_details.find_encrypted_number(uow) is None
        await bank_details.encrypt_numbers_of(uow, numbers, vendors[0].id)
        assert await bank_details.list_vendors_with_plaintext_numbers(uow, 10) == [vendors[1].id]
        found = await bank_details.find_encrypted_number(uow)
        assert found is not None
        assert found[0] == vendors[0].id
        assert numbers.plain_number(*found) == "0123456785"
    after = await rows()
    for table in tables:
        assert after[f"{table} 1"] == plain[f"{table} 1"]
        for before, row in zip(encrypted[f"{table} 0"], after[f"{table} 0"], strict=True):
            assert (row["account_number"], row["account_fingerprint"]) == (None, before["account_fingerprint"])
            assert numbers.plain_number(vendors[0].id, row["account_sealed"]) == "0123456785"
    # What is encrypted is not encrypted again.
    async with scenario.unit_of_work() as uow:
        await bank_details.encrypt_numbers_of(uow, numbers, vendors[0].id)
    assert await rows() == after


@pytest.mark.parametrize("plain", [("bank_detail_versions",), ("bank_detail_versions", "vendor_bank_details")])
async def test_numbers_that_another_worker_encrypts_are_encrypted_once(
    scenario: Scenario, plain: tuple[str, ...]
) -> None:
    """A worker that read the plaintext before would replace what the first one wrote, or the details that a vendor
    put.
    """
    vendor = await scenario.ready_vendor(100)
    numbers = scenario.dependencies.account_numbers
    tables = ("bank_detail_versions", "vendor_bank_details")
    sealed: list[Any] = []
    async with scenario.unit_of_work() as uow:
        for table in plain:
            await uow.execute(
                f"UPDATE {table} SET account_number = '0123456785', account_sealed = NULL, account_fingerprint = NULL"
            )

    async def encrypted(uow: UnitOfWork) -> list[Any]:
        rows = [await uow.fetch(f"SELECT account_sealed FROM {table}") for table in tables]
        return [row["account_sealed"] for [row] in rows]

    async def first(uow: UnitOfWork) -> None:
        await bank_details.encrypt_numbers_of(uow, numbers, vendor.id)
        sealed.extend(await encrypted(uow))

    database = scenario.database
    assert await waits_for(database, first, lambda uow: bank_details.encrypt_numbers_of(uow, numbers, vendor.id))
    async with scenario.unit_of_work() as uow:
        assert await encrypted(uow) == sealed


async def test_a_dispute_has_its_newest_state_and_its_own_hold(scenario: Scenario) -> None:
    vendor, now = await scenario.ready_vendor(1_000), scenario.clock.now()
    neighbour = await scenario.ready_vendor(1_000)
    orders = sorted([(await scenario.release(vendor, 900)).order_id for _ in range(2)])
    other = ChargebackUpdate(new_id(), orders[0], vendor.id, "opened", 700)
    own = ChargebackUpdate(new_id(), orders[1], vendor.id, "opened", 900)
    foreign = ChargebackUpdate(new_id(), orders[1], neighbour.id, "opened", 1)
    async with scenario.unit_of_work() as uow:
        await wallets.lock_wallet(uow, vendor.id)
        save, find, listed = chargebacks.save_chargeback, chargebacks.find_chargeback, chargebacks.list_open_chargebacks
        for update in (other, own, foreign):
            await save(uow, None, update, 5)
        for added_minor in (300, 2, -1):
            await chargebacks.change_hold(uow, HoldChange(own.id, own.order_id, added_minor, 7 + added_minor))
        assert await find(uow, own.id) == KnownChargeback("opened", 301, 5)
        assert await find(uow, other.id) == KnownChargeback("opened", 0, 5)
        assert await find(uow, uuid4()) is None
        assert await listed(uow, vendor.id) == [
            OpenChargeback(other.id, other.order_id, 700, 0, 0, 0, 900),
            OpenChargeback(own.id, own.order_id, 900, 301, 6, 0, 900),
        ]
        # A hold is no credit, and the wallet of another vendor received nothing for the order.
        line = WalletLine("hold", -500, order_id=own.order_id)
        await wallets.append_lines(uow, vendor.id, f"hold:{new_id()}", with_balances(2_800, [line]), now)
        assert [one.credited_minor for one in await listed(uow, vendor.id)] == [900, 900]
        assert [one.credited_minor for one in await listed(uow, neighbour.id)] == [0]
        for known in (None, KnownChargeback("won", 0, 5)):
            with pytest.raises(StateChanged):
                await save(uow, known, replace(own, status="lost"), 6)
        assert await find(uow, own.id) == KnownChargeback("opened", 301, 5)
        await save(uow, KnownChargeback("opened", 301, 5), replace(own, status="lost"), 6)
        assert await find(uow, own.id) == KnownChargeback("lost", 0, 6)
        assert [one.id for one in await listed(uow, vendor.id)] == [other.id]
        # A decided one holds nothing.
        await chargebacks.change_hold(uow, HoldChange(own.id, own.order_id, 5, 5))
        assert await find(uow, own.id) == KnownChargeback("lost", 0, 6)


async def test_the_share_that_is_left_in_escrow_is_that_of_the_order(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    held = [await scenario.hold(vendor, amount_minor) for amount_minor in (500, 700)]
    async with scenario.unit_of_work() as uow:
        for event in held:
            update = ChargebackUpdate(new_id(), event.order_id, vendor.id, "opened", 1)
            await chargebacks.save_chargeback(uow, None, update, 5)
        listed = await chargebacks.list_open_chargebacks(uow, vendor.id)
        assert {one.order_id: one.remaining_minor for one in listed} == {
            held[0].order_id: 500,
            held[1].order_id: 700,
        }
        assert (await wallets.lock_wallet(uow, vendor.id)).locked_minor == 1_200
        assert (await wallets.lock_wallet(uow, new_id())).locked_minor == 0


async def test_a_schedule_is_decided_once_for_each_period_of_its_vendor(scenario: Scenario) -> None:
    other, own, now = new_id(), new_id(), scenario.clock.now()
    daily, weekly = Schedule("daily", None, 100), Schedule("weekly", "monday", 200)
    later = now + timedelta(days=1)
    async with scenario.unit_of_work() as uow:
        await schedules.save_schedule(uow, other, daily, later, other, now)
        await schedules.save_schedule(uow, own, daily, now, own, now)
        assert await schedules.claim_due_schedule(uow, now - timedelta(seconds=1)) is None
        due = await schedules.claim_due_schedule(uow, now)
        assert due is not None
        assert (due.vendor_id, due.schedule) == (own, daily)
        period = date(2026, 1, 1)
        await schedules.record_decision(uow, own, period, "below_minimum", 7, now, now)
        decided = [await schedules.period_is_decided(uow, vendor, day) for vendor, day in
                   ((own, period), (own, date(2026, 1, 2)), (other, period))]  # fmt: skip
        assert decided == [True, False, False]
        await schedules.save_next_due(uow, own, later + timedelta(days=1))
        assert await schedules.lock_schedule(uow, own) == (daily, later + timedelta(days=1))
        assert await schedules.lock_schedule(uow, other) == (daily, later)
        await schedules.save_schedule(uow, own, weekly, now, own, now)
        assert await schedules.lock_schedule(uow, own) == (weekly, now)
        assert await schedules.lock_schedule(uow, other) == (daily, later)
        assert await schedules.lock_schedule(uow, uuid4()) == (Schedule(), None)


async def test_a_line_is_found_by_its_source_and_kind(scenario: Scenario) -> None:
    other, own, now = new_id(), new_id(), scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        for vendor, net_minor in ((other, 5), (own, 7)):
            await wallets.lock_wallet(uow, vendor)
            lines = [WalletLine("release", net_minor), WalletLine("hold", -net_minor)]
            await wallets.append_lines(uow, vendor, f"release:{vendor}", with_balances(net_minor, lines), now)
        assert await wallets.find_line_net(uow, f"release:{own}", "release") == 7
        assert await wallets.find_line_net(uow, f"release:{own}", "hold") == -7
        assert await wallets.find_line_net(uow, f"release:{own}", "refund") is None
        assert await wallets.find_line_net(uow, f"release:{uuid4()}", "release") is None
        # A clock that is behind changes no sequence of a vendor's lines.
        lines = [WalletLine("refund", -1)]
        await wallets.append_lines(uow, other, f"refund:{other}", with_balances(5, lines), now + timedelta(days=1))
        early = now - timedelta(days=1)
        await wallets.append_lines(uow, own, f"refund:{own}", with_balances(1, [WalletLine("refund", -1)]), early)
        rows = await uow.fetch("SELECT at FROM wallet_lines WHERE vendor_id = $1", own)
        assert {row["at"] for row in rows} == {now}


async def test_a_wallet_shows_its_own_vendor(scenario: Scenario) -> None:
    other, own = await scenario.ready_vendor(900), await scenario.vendor()
    async with scenario.unit_of_work() as uow:
        snapshot = await wallets.lock_wallet(uow, own.id)
        assert (snapshot.available_minor, snapshot.debt_minor, snapshot.locked_minor) == (0, 0, 0)
        assert (
            snapshot.bank_details_version_id, snapshot.bank_details_verified, snapshot.suspended,
            snapshot.bank_details_quarantined,
        ) == (
            None, False, False, False,
        )  # fmt: skip
        await uow.execute("UPDATE vendors SET suspended = true WHERE id = $1", other.id)
        quarantine = "UPDATE vendor_bank_details SET quarantine_reason = 'odd', verified = false WHERE vendor_id = $1"
        await uow.execute(quarantine, other.id)
        theirs = await wallets.lock_wallet(uow, other.id)
        assert (theirs.available_minor, theirs.suspended, theirs.bank_details_quarantined) == (900, True, True)
        assert await wallets.lock_wallet(uow, own.id) == snapshot
    assert isinstance(theirs.bank_details_version_id, UUID)


@pytest.mark.parametrize("times", [1, 2])
async def test_a_wallet_is_locked_whether_it_exists_or_not(scenario: Scenario, times: int) -> None:
    vendor_id = new_id()
    for _ in range(times):
        async with scenario.unit_of_work() as uow:
            await wallets.lock_wallet(uow, vendor_id)
    rows = await scenario.fetch("SELECT FROM wallets WHERE vendor_id = $1", vendor_id)
    assert len(rows) == 1
