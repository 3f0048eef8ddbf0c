"""The store of payments' statements: a vendor's totals, lines and oddities are read beside those of another vendor."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from common.primitives.ids import new_id
from payouts.domain.release_statements import ReleaseCheckpoint, Statement
from payouts.domain.severity import ExceptionContext
from payouts.store import exceptions, release_statements
from payouts.store.exceptions import OpeningException
from payouts.store.release_statements import VendorLedger
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor, released
from .staff import Staff
from .steps import escrow_refunded, skip_reason
from .stored import sent_payout

# A statement of a vendor once more, with some fields changed.
COPY_STATEMENT = """
INSERT INTO release_statements SELECT (json_populate_record(s, $1::json)).* FROM release_statements AS s
WHERE vendor_id = $2 ORDER BY sequence LIMIT 1
"""
ByHand = Callable[..., AbstractAsyncContextManager[asyncpg.Connection]]


async def ledger_of(scenario: Scenario, vendor: Vendor) -> VendorLedger:
    async with scenario.unit_of_work() as uow:
        [ledger] = await release_statements.read_vendor_ledgers(uow, [ReleaseCheckpoint(vendor.id)])
    return ledger


async def line_by_hand(
    connection: Any, vendor: Vendor, kind: str, net_minor: int, payout_id: UUID | None = None, source_key: str = ""
) -> None:
    await connection.execute(
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at) "
        "VALUES ($1, $2, $3, $4, $5, $6, 0, now())",
        new_id(), vendor.id, kind, source_key or f"{kind}:{new_id()}", payout_id, net_minor,
    )  # fmt: skip


async def test_a_vendors_totals_are_those_of_its_own_lines_accounts_and_statements(scenario: Scenario) -> None:
    other, own = await scenario.ready_vendor(5_000), await scenario.vendor()
    ledger = await ledger_of(scenario, own)
    assert (ledger.totals.lines_minor, ledger.totals.balances_minor) == (0, 0)
    assert (ledger.totals.has_lines, ledger.totals.has_new_lines, ledger.statements) == (False, False, ())
    await scenario.put_bank_details(own)
    await scenario.release(own, 1_000)
    await scenario.receive(escrow_refunded(own, 300))
    await scenario.payout(own, 200)
    ledger = await ledger_of(scenario, own)
    # The payout is no line of what payments released, and left the balances with its amount.
    assert (ledger.totals.vendor_id, ledger.totals.lines_minor, ledger.totals.balances_minor) == (own.id, 700, 700)
    assert (ledger.totals.has_lines, ledger.totals.has_new_lines, ledger.totals.anomaly) == (True, True, None)
    assert [(line.sequence, line.net_minor, line.ordinal) for line in ledger.statements] == [(2, 700, 2), (1, 1_000, 1)]
    assert (ledger.totals.gap_since, ledger.totals.upgraded_at) == (None, None)
    async with scenario.unit_of_work() as uow:
        both = await release_statements.read_vendor_ledgers(
            uow, [ReleaseCheckpoint(other.id), ReleaseCheckpoint(own.id)]
        )
    assert {each.totals.vendor_id: each.totals.lines_minor for each in both} == {other.id: 5_000, own.id: 700}


async def test_a_missing_number_is_a_gap_of_its_own_vendor(scenario: Scenario) -> None:
    other, own = await scenario.ready_vendor(5_000), await scenario.ready_vendor(1_000)
    for _ in range(3):
        await scenario.release(other, 1)
    missing = scenario.payments.signed(released(own, 10))
    later, last = scenario.payments.signed(released(own, 20)), scenario.payments.signed(released(own, 30))
    scenario.clock.advance(timedelta(minutes=1))
    arrived = scenario.clock.now()
    await scenario.app.deliver_unsigned(later)
    scenario.clock.advance(timedelta(minutes=1))
    await scenario.app.deliver_unsigned(last)
    ledger = await ledger_of(scenario, own)
    assert ledger.totals.gap_since == arrived
    # The ordinal counts the numbers that have arrived.
    assert [(line.sequence, line.ordinal) for line in ledger.statements] == [(4, 3), (3, 2), (1, 1)]
    assert (await ledger_of(scenario, other)).totals.gap_since is None
    await scenario.app.deliver_unsigned(missing)
    ledger = await ledger_of(scenario, own)
    assert (ledger.totals.gap_since, [line.ordinal for line in ledger.statements]) == (None, [4, 3, 2, 1])


async def test_lines_from_before_the_upgrade_are_not_new(scenario: Scenario) -> None:
    own = await scenario.ready_vendor(1_000)
    [row] = await scenario.fetch("SELECT max(position) AS at FROM wallet_lines")
    async with scenario.tampering() as connection:
        await connection.execute("UPDATE release_statements_begin SET last_line = $1", row["at"])
        await connection.execute("DELETE FROM release_statements")
    ledger = await ledger_of(scenario, own)
    assert (ledger.totals.has_lines, ledger.totals.has_new_lines) == (True, False)
    assert ledger.totals.upgraded_at is not None
    async with scenario.unit_of_work() as uow:
        assert await release_statements.list_unstated_lines(uow, own.id) == []
    # A line of nothing is none, and neither is one of a payout.
    async with scenario.tampering() as connection:
        await line_by_hand(connection, own, "release", 0)
        await line_by_hand(connection, own, "payout", -1)
    ledger = await ledger_of(scenario, own)
    assert (ledger.totals.has_lines, ledger.totals.has_new_lines) == (True, False)


async def test_an_oddity_is_one_of_its_own_vendor(scenario: Scenario, sandbox: Sandbox) -> None:
    staff = Staff(scenario, sandbox)

    async def anomalies(*vendors: Vendor) -> list[str | None]:
        return [(await ledger_of(scenario, vendor)).totals.anomaly for vendor in vendors]

    pending, other = await staff.dispatched(), await staff.dispatched()
    paid = await staff.dispatched()
    await staff.succeeds(paid.reference)
    assert await anomalies(pending.vendor, other.vendor, paid.vendor) == [None] * 3
    async with scenario.tampering() as connection:
        # Of payouts that are not pending nothing is under way.
        for case in (pending, paid):
            await connection.execute(
                "UPDATE payout_requests SET amount = amount + 1 WHERE id = $1", UUID(case.payout_id)
            )
        [own, theirs, done] = await anomalies(pending.vendor, other.vendor, paid.vendor)
        assert own is not None
        assert f"Payout {pending.payout_id} is for 40001 kobo" in own
        assert (theirs, done) == (None, None)
        for case in (pending, paid):
            await connection.execute(
                "UPDATE payout_requests SET amount = amount - 1 WHERE id = $1", UUID(case.payout_id)
            )
            await connection.execute(
                "UPDATE payout_transfers SET amount = amount + 1 WHERE reference = $1", case.reference
            )
        [own, theirs, done] = await anomalies(pending.vendor, other.vendor, paid.vendor)
        assert own is not None
        assert f"Transfer {pending.reference} is for 40001 kobo of a payout of 40000" in own
        assert (theirs, done) == (None, None)
        await connection.execute("UPDATE payout_transfers SET amount = 40000")
        await connection.execute(
            "UPDATE payout_transfers SET vendor_id = $2 WHERE reference = $1", pending.reference, other.vendor.id
        )
        [own, theirs] = await anomalies(pending.vendor, other.vendor)
        assert own is not None
        assert theirs is None


@pytest.mark.parametrize("kind", ["restitution", "reversal", "recovery_returned"])
async def test_an_undecided_return_is_an_oddity_of_its_own_vendor(
    scenario: Scenario, sandbox: Sandbox, kind: str
) -> None:
    staff = Staff(scenario, sandbox)
    other, own = await staff.failed(), await staff.failed()
    payout_id = UUID(own.payout_id)

    async def anomalies() -> list[str | None]:
        return [(await ledger_of(scenario, case.vendor)).totals.anomaly for case in (own, other)]

    async with scenario.tampering() as connection:
        await line_by_hand(connection, own.vendor, kind, 1, payout_id)
        assert await anomalies() == [f"The {kind} of payout {payout_id} was decided by nobody.", None]

        async def decide(case: Any, of: str, status: str) -> None:
            await connection.execute("DELETE FROM reconciliations")
            await connection.execute(
                "INSERT INTO reconciliations (id, payout_id, kind, status, reason, postings, hash, prepared_by, "
                "prepared_at, "
                "decided_by, decided_at, rejection, transfer_id) VALUES ($1, $2, $3, $4, 'x', '[]', $5, $6, "
                "now(), $7, now(), $8, "
                "CASE $3 WHEN 'recovery_returned' THEN (SELECT id FROM payout_transfers WHERE payout_id = $2) END)",
                new_id(), UUID(case.payout_id), of, status, "0" * 64, new_id(), new_id(),
                "x" if status == "rejected" else None,
            )  # fmt: skip

        another = "restitution" if kind == "reversal" else "reversal"
        for decision in ((other, kind, "approved"), (own, another, "approved"), (own, kind, "rejected")):
            await decide(*decision)
            assert (await anomalies())[0] is not None, decision
        await decide(own, kind, "approved")
        if kind == "restitution":
            # Staff or a quarantine return it: its payout has failed.
            assert (await anomalies())[0] is not None
            await connection.execute(
                "UPDATE payout_requests SET status = 'failed' WHERE id = ANY ($1)", [payout_id, UUID(other.payout_id)]
            )
        assert await anomalies() == [None, None]
        # A return of the payout of another vendor was decided for that one.
        if kind == "restitution":
            await line_by_hand(connection, own.vendor, kind, 0, UUID(other.payout_id))
            assert (await anomalies())[0] is not None


async def test_a_payout_that_gave_back_more_than_it_took_is_an_oddity(scenario: Scenario, sandbox: Sandbox) -> None:
    staff = Staff(scenario, sandbox)
    other, own = await staff.dispatched(), await staff.dispatched()
    payout_id = UUID(own.payout_id)

    async def anomalies() -> list[str | None]:
        return [(await ledger_of(scenario, case.vendor)).totals.anomaly for case in (own, other)]

    async with scenario.tampering() as connection:
        await line_by_hand(connection, own.vendor, "recovery", 40_000, payout_id)
        assert await anomalies() == [None, None], "exactly what it took"
        await line_by_hand(connection, own.vendor, "recovery", 1, payout_id)
        assert await anomalies() == [f"Payout {payout_id} gave back more than it took.", None]


async def test_lines_without_a_statement_of_their_amount_are_named(scenario: Scenario) -> None:
    other, own = await scenario.ready_vendor(5_000), await scenario.ready_vendor(1_000)
    forged = released(own, 500)
    await scenario.app.deliver_unsigned(forged)
    await scenario.app.deliver_unsigned(released(other, 600))
    await scenario.payout(own, 100)
    async with scenario.tampering() as connection:
        await line_by_hand(connection, own, "release", 0)

        async def unstated() -> list[str]:
            async with scenario.unit_of_work() as uow:
                return await release_statements.list_unstated_lines(uow, own.id)

        mine = f"release:{forged.release_id} (500)"
        assert await unstated() == [mine]
        # Only a statement of this vendor, line and amount states it.
        key = f"release:{forged.release_id}"
        for change in (
            {"vendor_id": str(other.id), "line_key": key, "amount_minor": 500},
            {"line_key": "release:another", "amount_minor": 500},
            {"line_key": key, "amount_minor": 501},
        ):
            await connection.execute(
                COPY_STATEMENT, json.dumps({**change, "sequence": 90, "signature": str(new_id())}), own.id
            )
            assert await unstated() == [mine], change
            await connection.execute("DELETE FROM release_statements WHERE sequence = 90")
        await connection.execute(
            COPY_STATEMENT, json.dumps({"line_key": key, "amount_minor": 500, "sequence": 90, "signature": "s"}), own.id
        )
        assert await unstated() == []


async def test_the_statements_of_a_vendors_lines_are_those_of_received_money(scenario: Scenario) -> None:
    other, own = await scenario.ready_vendor(5_000), await scenario.ready_vendor(1_000)
    await scenario.payout(own, 100)
    async with scenario.tampering() as connection:
        [line] = await connection.fetch(
            "SELECT source_key FROM wallet_lines WHERE vendor_id = $1 AND kind = 'payout'", own.id
        )
        await line_by_hand(connection, own, "release", 0, source_key="release:nothing")
        await line_by_hand(connection, other, "release", 7, source_key="release:theirs")
        for number, key in enumerate((line["source_key"], "release:nothing", "release:theirs"), 50):
            await connection.execute(
                COPY_STATEMENT, json.dumps({"line_key": key, "sequence": number, "signature": key}), own.id
            )
    async with scenario.unit_of_work() as uow:
        found = await release_statements.list_statements_of_lines(uow, own.id)
        assert [(one.vendor_id, one.sequence, one.amount_minor) for _, one in found] == [(own.id, 1, 1_000)]
        [theirs] = await release_statements.list_statements_of_lines(uow, other.id)
        assert theirs[1].amount_minor == 5_000


async def test_a_statement_is_kept_once_for_each_signature(scenario: Scenario) -> None:
    vendor, now = await scenario.vendor(), scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        for signature in ("one", "one", "two"):
            statement = Statement(vendor.id, "release:1", 100, 1, 100, "key", signature)
            save = release_statements.received_statement(statement, "release:1", now)
            await uow.execute(save.statement, *save.values)
        rows = await uow.fetch("SELECT signature FROM release_statements WHERE vendor_id = $1 ORDER BY 1", vendor.id)
    assert [row["signature"] for row in rows] == ["one", "two"]


async def test_vendors_with_pending_payouts_or_an_exception_of_their_own_are_checked(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    staff = Staff(scenario, sandbox)
    idle, pending, odd = [await scenario.ready_vendor(1_000) for _ in range(3)]
    await scenario.payout(pending, 100)
    await scenario.app.deliver_unsigned(released(odd, 500))
    payout_id = await scenario.payout(odd, 100)
    assert await skip_reason(scenario, payout_id) == "credit_not_released"
    paid = await staff.failed()
    await scenario.fetch("UPDATE payout_requests SET status = 'processed' WHERE id = ANY ($1) RETURNING 1",
                             [UUID(paid.payout_id), UUID(payout_id)])  # fmt: skip
    batch = await sent_payout(scenario, sandbox)
    await staff.succeeds(batch.reference)
    async with scenario.unit_of_work() as uow:
        # The exception of a batch belongs to no vendor.
        now = scenario.clock.now()
        context = ExceptionContext("balance_insufficient", 1)
        short = OpeningException(new_id(), context, "SEV-3", "x", now, batch_id=batch.batch_id)
        assert await exceptions.open_exception_if_new(uow, short, now)
        found = await release_statements.list_vendors_to_check(uow, 100)
        assert found == sorted([pending.id, odd.id])
        assert idle.id not in found
        await uow.execute("UPDATE payout_exceptions SET status = 'closed', closed_at = now(), closed_because = 'x'")
        assert await release_statements.list_vendors_to_check(uow, 100) == [pending.id]
