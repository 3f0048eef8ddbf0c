"""The hash chain of the ledger: every change is detected, and every committed posting is linked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from common.auth.caller import THE_SERVICE
from common.ledger import posting as ledger
from common.ledger.chain_loops import DAILY
from common.ledger.hash_chain import extend_chain_once
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from payments.app import verify_ledger_command
from payments.domain import postings
from payments.metrics import LEDGER_CHAIN

from .conftest import PaymentsApp

REWARDS = 5


async def _reward(uow: Any, user: UUID, amount_minor: int = 700) -> None:
    assert await ledger.post(uow, postings.referral_reward(user, amount_minor))


async def _linked_rewards(app: PaymentsApp) -> list[UUID]:
    """Link some postings; return their ids in the order of the chain."""
    for number in range(REWARDS):
        async with app.unit_of_work() as uow:
            await _reward(uow, new_id(), 100 + number)
    assert await LEDGER_CHAIN.extend(app.database) == REWARDS
    return [row["transaction_id"] for row in await app.fetch("SELECT * FROM ledger_links ORDER BY sequence")]


async def _insert_in_the_past(app: PaymentsApp, ids: list[UUID]) -> UUID:
    forged = new_id()
    await app.tamper(
        "INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash, created_at) "
        "VALUES ($1, 'charge', 'charge:forged', 'NGN', '', now() - interval '3 days')",
        forged,
    )
    return forged


CHANGE = "UPDATE ledger_entries SET amount_minor = amount_minor * 10 WHERE transaction_id = $1"
SWAP = """
UPDATE ledger_entries e SET amount_minor = o.amount_minor FROM ledger_entries o
WHERE e.transaction_id = ANY ($1::uuid[]) AND o.transaction_id = ANY ($1::uuid[])
    AND o.transaction_id <> e.transaction_id
  AND sign(o.amount_minor) = sign(e.amount_minor)
"""
ADD = """
INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency)
VALUES ($1, 'commission', 5, 'NGN'), ($1, 'delivery_fee', -5, 'NGN')
"""
RELINK = """
UPDATE ledger_links l SET transaction_id = o.transaction_id FROM ledger_links o
WHERE l.sequence IN (2, 4) AND o.sequence = 6 - l.sequence
"""

# A change of the third link's transaction, and the verdict with the link that it names.
TAMPERINGS: dict[str, tuple[str, str, int]] = {
    "an amount is changed": (CHANGE, "is not what was sealed", 3),
    "entries are added": (ADD, "is not what was sealed", 3),
    "an account is renamed": (
        "UPDATE ledger_entries SET account = 'commission' WHERE transaction_id = $1 AND amount_minor < 0",
        "is not what was sealed",
        3,
    ),
    "a time is changed": (
        "UPDATE ledger_transactions SET created_at = created_at - interval '1 ms' WHERE id = $1",
        "is not what was sealed",
        3,
    ),
    "a key is changed": ("UPDATE ledger_transactions SET posting_key = 'x' WHERE id = $1", "is not what was sealed", 3),
    "a transaction is deleted": ("DELETE FROM ledger_transactions WHERE id = $1", "was removed", 3),
    "a link is deleted": ("DELETE FROM ledger_links WHERE transaction_id = $1", "is missing", 3),
    "entries are deleted": ("DELETE FROM ledger_entries WHERE transaction_id = $1", "is not what was sealed", 3),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
async def test_a_changed_past_is_found_and_the_first_broken_row_is_named(tampering: str, app: PaymentsApp) -> None:
    ids = await _linked_rewards(app)
    assert (await LEDGER_CHAIN.verify(app.database)).broken is None
    statement, words, sequence = TAMPERINGS[tampering]
    await app.tamper(statement, ids[2])
    report = await LEDGER_CHAIN.verify(app.database)
    assert report.broken is not None
    assert (report.broken.sequence, words in str(report.broken)) == (sequence, True), report.broken


async def test_swapped_amounts_and_swapped_places_are_found(app: PaymentsApp) -> None:
    ids = await _linked_rewards(app)
    await app.tamper(SWAP, [ids[1], ids[3]])
    swapped = await LEDGER_CHAIN.verify(app.database)
    assert (swapped.broken.sequence, swapped.broken.transaction_id) == (2, ids[1])
    await app.tamper(SWAP, [ids[1], ids[3]])
    assert (await LEDGER_CHAIN.verify(app.database)).broken is None
    await app.tamper("ALTER TABLE ledger_links DROP CONSTRAINT ledger_links_transaction_once")
    await app.tamper(RELINK)
    assert (await LEDGER_CHAIN.verify(app.database)).broken.sequence == 2


async def test_a_row_without_the_posting_function_is_detected(app: PaymentsApp) -> None:
    ids = await _linked_rewards(app)
    forged = await _insert_in_the_past(app, ids)
    assert await LEDGER_CHAIN.extend(app.database) == 0
    report = await LEDGER_CHAIN.verify(app.database)
    assert (report.broken.transaction_id, report.broken.fault) == (forged, "was written past the posting function")
    [alert] = await app.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "ledger-changed")
    assert str(forged) in alert["detail"]


async def test_a_cut_off_end_and_a_chain_written_anew_are_found(app: PaymentsApp) -> None:
    ids = await _linked_rewards(app)
    database = app.database
    earlier = await LEDGER_CHAIN.verify(database)
    await app.tamper("DELETE FROM ledger_links WHERE sequence = 5")
    assert "is missing" in str((await LEDGER_CHAIN.verify(database)).broken)
    # The attacker changes an amount, and the worker writes a new chain over it.
    await app.tamper(CHANGE, ids[0])
    await app.tamper("DELETE FROM ledger_links")
    await app.tamper("UPDATE ledger_chain SET length = 0, head = sha256('')")
    await app.tamper("INSERT INTO ledger_unsealed SELECT position, id, created_at FROM ledger_transactions")
    assert await extend_chain_once(database) == REWARDS
    assert (await LEDGER_CHAIN.verify(database)).broken is None
    convicted = await LEDGER_CHAIN.verify(database, (earlier.length, earlier.head))
    assert "the earlier report" in str(convicted.broken)


async def test_a_posting_that_commits_late_is_linked_late_and_not_passed_over(app: PaymentsApp) -> None:
    database = app.database
    async with database.unit_of_work(acting_as=THE_SERVICE) as late:
        await _reward(late, new_id())
        await _linked_rewards(app)
    assert await extend_chain_once(database) == 1
    [row] = await app.fetch(
        "SELECT l.sequence, t.position FROM ledger_links l JOIN ledger_transactions t ON t.id = l.transaction_id "
        "ORDER BY t.position LIMIT 1"
    )
    assert row["sequence"] == REWARDS + 1
    assert (await LEDGER_CHAIN.verify(database)).broken is None


async def test_concurrent_workers_and_postings_write_one_chain(app: PaymentsApp) -> None:
    database = app.database

    async def post() -> None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await _reward(uow, new_id())

    await asyncio.gather(*(post() for _ in range(20)), *(extend_chain_once(database) for _ in range(10)))
    while await extend_chain_once(database):
        pass
    report = await LEDGER_CHAIN.verify(database)
    assert (report.length, report.broken) == (20, None)


async def test_failed_chaining_is_retried_in_the_next_round(app: PaymentsApp) -> None:
    database = app.database
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await _reward(uow, new_id())
    async with app.connected() as owner:
        await owner.execute("ALTER TABLE ledger_chain ADD CONSTRAINT fails CHECK (length = 0)")
        with pytest.raises(asyncpg.CheckViolationError):
            await extend_chain_once(database)
        await owner.execute("ALTER TABLE ledger_chain DROP CONSTRAINT fails")
    assert await app.fetch("SELECT 1 FROM ledger_links") == []
    assert await extend_chain_once(database) == 1
    assert (await LEDGER_CHAIN.verify(database)).broken is None


async def test_the_service_can_neither_forge_a_link_s_past_nor_register_by_hand(app: PaymentsApp) -> None:
    await _linked_rewards(app)
    rejected = (asyncpg.InsufficientPrivilegeError, asyncpg.RestrictViolationError)
    statements: list[tuple[str, str]] = [
        ("service", "UPDATE ledger_links SET link = ''"),
        ("service", "DELETE FROM ledger_links"),
        ("service", "INSERT INTO ledger_unsealed SELECT 99, gen_random_uuid(), now()"),
        ("service", "UPDATE ledger_accounts SET currency = 'GHS'"),
        ("service", "DELETE FROM ledger_chain"),
        ("owner", "UPDATE ledger_links SET link = ''"),
        ("api", "SELECT link FROM ledger_links"),
        ("api", "SELECT head FROM ledger_chain"),
    ]
    for role, statement in statements:
        async with app.connected(role) as connection:
            with pytest.raises(rejected):
                await connection.execute(statement)


async def test_one_worker_verifies_the_ledger_once_a_day(app: PaymentsApp) -> None:
    clock: ManualClock = app.clock
    runs = await asyncio.gather(*(LEDGER_CHAIN.verify_when_due(app.database, clock) for _ in range(3)))
    assert sorted(runs) == [False, False, True]
    assert await LEDGER_CHAIN.verify_when_due(app.database, clock) is False
    clock.advance(DAILY)
    assert await LEDGER_CHAIN.verify_when_due(app.database, clock) is True


async def test_the_command_prints_length_and_head_and_fails_with_the_broken_row(
    app: PaymentsApp, capsys: pytest.CaptureFixture[str]
) -> None:
    run: Callable[..., Awaitable[None]] = verify_ledger_command
    ids = await _linked_rewards(app)
    for unusable in (("five",), ("five", "00"), ("5", "no hash")):
        with pytest.raises(SystemExit, match="length and the head"):
            await run(app.dependencies, *unusable)
    await run(app.dependencies)
    length, head = capsys.readouterr().out.splitlines()[-1].split()
    assert (length, len(head)) == ("5", 64)
    await run(app.dependencies, length, head)
    with pytest.raises(SystemExit) as rejected:
        await run(app.dependencies, length, "00" * 32)
    assert "earlier report" in str(rejected.value.code)
    await app.tamper(CHANGE, ids[4])
    with pytest.raises(SystemExit) as broken:
        await run(app.dependencies)
    assert str(ids[4]) in str(broken.value.code)
