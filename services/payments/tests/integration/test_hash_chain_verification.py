"""The verification of the hash chain: rows outside it, earlier reports, long chains, its lease, its gauges and its
alert.
"""

from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from prometheus_client import REGISTRY

from common.auth.caller import THE_SERVICE
from common.ledger import posting as ledger
from common.ledger.hash_chain import LINKS_PER_BATCH, Break, extend_chain_once
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from payments.domain import postings
from payments.metrics import LEDGER_CHAIN

from .conftest import PaymentsApp

REWARDS = 5

POST_MANY = """
SELECT ledger_post(gen_random_uuid(), 'referral_reward', 'reward:' || n, 'NGN', '',
    ARRAY['buyer_reward:' || n, 'referral_expense'], ARRAY['credit', 'debit'], ARRAY[false, false], ARRAY[-n, n])
        FROM generate_series(1, $1::bigint) AS n
"""
ADD_ENTRIES = """
INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency)
VALUES ($1, 'commission', 5, 'NGN'), ($1, 'delivery_fee', -5, 'NGN')
"""
ADD_TRANSACTION = """
INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash, created_at)
VALUES ($1, 'charge', 'charge:added', 'NGN', '', now() - make_interval(secs => $2))
"""
LENGTHEN = "INSERT INTO ledger_links (sequence, transaction_id, link) VALUES (6, $1, '')"
SHORTEN = "UPDATE ledger_chain SET length = 4, head = (SELECT link FROM ledger_links WHERE sequence = 4)"
MAKE_OLDER = "UPDATE ledger_transactions SET created_at = created_at - interval '60 seconds' WHERE id = $1"


async def _post_rewards(app: PaymentsApp, count: int = REWARDS) -> list[UUID]:
    """Post rewards without a link; returns the transactions in the order of the chain."""
    async with app.unit_of_work() as uow:
        await uow.execute(POST_MANY, count)
    return [row["id"] for row in await app.fetch("SELECT id FROM ledger_transactions ORDER BY position")]


async def _link_rewards(app: PaymentsApp, count: int = REWARDS) -> list[UUID]:
    ids = await _post_rewards(app, count)
    assert await LEDGER_CHAIN.extend(app.database) == count
    return ids


async def _broken(app: PaymentsApp, expected: tuple[int, bytes] | None = None) -> Break | None:
    return (await LEDGER_CHAIN.verify(app.database, expected)).broken


async def test_a_link_beyond_the_end_of_the_chain_is_found(app: PaymentsApp) -> None:
    ids = await _link_rewards(app)
    await app.tamper(SHORTEN)
    assert await _broken(app) == Break(5, ids[4], "stands behind the end of the chain")


async def test_a_head_that_is_no_link_is_found(app: PaymentsApp) -> None:
    await _link_rewards(app)
    await app.tamper("UPDATE ledger_chain SET head = sha256('other')")
    assert await _broken(app) == Break(REWARDS, None, "is not the head that the chain was left with")


async def test_a_chain_that_lost_its_last_links_is_found_by_the_next_sequence(app: PaymentsApp) -> None:
    await _link_rewards(app)
    await app.tamper("DELETE FROM ledger_links")
    assert await _broken(app) == Break(1, None, f"is missing: the chain has {REWARDS} links")


async def test_a_posting_that_was_removed_before_its_link_is_found(app: PaymentsApp) -> None:
    ids = await _post_rewards(app)
    await app.tamper("DELETE FROM ledger_transactions WHERE id = $1", ids[2])
    await app.tamper("DELETE FROM ledger_entries WHERE transaction_id = $1", ids[2])
    assert await LEDGER_CHAIN.extend(app.database) == REWARDS - 1
    assert await _broken(app) == Break(None, ids[2], "was removed before it was sealed")


async def test_a_posting_may_wait_a_minute_for_its_link(app: PaymentsApp) -> None:
    ids = await _post_rewards(app)
    assert await _broken(app) is None
    await app.tamper(MAKE_OLDER, ids[0])
    assert await _broken(app) == Break(None, ids[0], "waits for its link for too long")
    await LEDGER_CHAIN.extend(app.database)
    assert await _broken(app) is None


@pytest.mark.parametrize(("age_seconds", "is_found"), [(5, False), (65, True)])
async def test_a_transaction_without_the_posting_function_is_found_after_a_minute(
    age_seconds: int, is_found: bool, app: PaymentsApp
) -> None:
    await _link_rewards(app)
    # A posting that waits for its link hides nothing.
    async with app.unit_of_work() as uow:
        assert await ledger.post(uow, postings.referral_reward(new_id(), 700))
    added = new_id()
    await app.tamper(ADD_TRANSACTION, added, age_seconds)
    assert await _broken(app) == (Break(None, added, "was written past the posting function") if is_found else None)


async def test_entries_of_no_transaction_are_found(app: PaymentsApp) -> None:
    await _link_rewards(app)
    stray = new_id()
    await app.tamper(ADD_ENTRIES, stray)
    assert await _broken(app) == Break(None, stray, "has entries and does not exist")


async def test_the_link_of_an_earlier_report_must_be_unchanged(app: PaymentsApp) -> None:
    ids = await _link_rewards(app)
    links = [row["link"] for row in await app.fetch("SELECT link FROM ledger_links ORDER BY sequence")]
    for length, link in enumerate(links, start=1):
        assert await _broken(app, (length, link)) is None
    assert await _broken(app, (3, links[3])) == Break(3, ids[2], "is not what the earlier report ended with")
    longer = Break(REWARDS, None, f"is the last one, and the earlier report counted {REWARDS + 1}")
    assert await _broken(app, (REWARDS + 1, links[-1])) == longer


async def test_a_break_names_its_link_its_transaction_or_neither() -> None:
    transaction = new_id()
    assert str(Break(3, transaction, "was removed")) == f"link 3: transaction {transaction} was removed"
    assert str(Break(3, None, "is missing")) == "link 3: is missing"
    assert str(Break(None, transaction, "has entries")) == f"transaction {transaction} has entries"


async def test_a_chain_longer_than_a_batch_is_extended_and_verified_in_pages(app: PaymentsApp) -> None:
    count = 2 * LINKS_PER_BATCH + 1
    ids = await _link_rewards(app, count)
    rows = await app.fetch("SELECT sequence, transaction_id FROM ledger_links ORDER BY sequence")
    assert [(row["sequence"], row["transaction_id"]) for row in rows] == list(enumerate(ids, start=1))
    report = await LEDGER_CHAIN.verify(app.database)
    assert (report.length, report.broken) == (count, None)
    last = ids[-1]
    await app.tamper("UPDATE ledger_entries SET currency = 'GHS' WHERE transaction_id = $1", last)
    assert await _broken(app) == Break(count, last, "is not what was sealed")


async def test_the_loops_of_a_worker_link_and_verify(app: PaymentsApp) -> None:
    await _post_rewards(app)
    extend, verify = LEDGER_CHAIN.loops(app.database, app.clock)
    assert await extend.run_once() == REWARDS
    assert [await verify.run_once() for _ in range(2)] == [True, False]


async def test_a_second_worker_does_not_wait_for_the_chain(app: PaymentsApp) -> None:
    ids = await _post_rewards(app)
    database = app.database
    async with database.unit_of_work(acting_as=THE_SERVICE) as first:
        await first.execute("SELECT FROM ledger_chain FOR UPDATE")
        assert await extend_chain_once(database) == 0
    assert await extend_chain_once(database) == len(ids)
    assert await app.fetch("SELECT 1 FROM ledger_unsealed") == []


async def test_a_link_registers_the_missing_accounts_of_its_batch_only(app: PaymentsApp) -> None:
    await _link_rewards(app)
    before = await _accounts(app)
    await app.tamper("DELETE FROM ledger_accounts")
    async with app.unit_of_work() as uow:
        assert await ledger.post(uow, postings.referral_reward(new_id(), 700))
    [reward] = [name for name in await _accounts(app) if name.startswith("buyer_balance:")]
    # Another registered account hides nothing.
    await app.tamper("DELETE FROM ledger_accounts WHERE account = $1", reward)
    assert await LEDGER_CHAIN.extend(app.database) == 1
    assert set(await _accounts(app)) == {"referral_expense", reward}
    assert len(before) == REWARDS + 1


async def _accounts(app: PaymentsApp) -> list[str]:
    return [row["account"] for row in await app.fetch("SELECT account FROM ledger_accounts ORDER BY account")]


async def test_the_gauges_show_waiting_postings_length_and_break(app: PaymentsApp) -> None:
    database = app.database
    ids = await _link_rewards(app)
    await LEDGER_CHAIN.verify(database)
    assert _gauges() == {"unsealed": 0, "length": REWARDS, "broken": 0}
    await app.tamper("DELETE FROM ledger_transactions WHERE id = $1", ids[1])
    await LEDGER_CHAIN.verify(database)
    assert _gauges() == {"unsealed": 0, "length": REWARDS, "broken": 1}
    await _post_removed(app)
    await LEDGER_CHAIN.extend(database)
    assert _gauges()["unsealed"] == 1


async def _post_removed(app: PaymentsApp) -> None:
    """Make a registered posting whose transaction is gone: it never gets a link."""
    removed = new_id()
    await app.tamper(
        "INSERT INTO ledger_unsealed (position, transaction_id, posted_at) VALUES (1000, $1, now())",
        removed,
    )


def _gauges() -> dict[str, float | None]:
    names = ("unsealed", "length", "broken")
    return {name: REGISTRY.get_sample_value(f"payments_book_{name}") for name in names}


async def test_a_sound_ledger_raises_no_alert_and_a_changed_one_a_sev_1(app: PaymentsApp) -> None:
    ids = await _link_rewards(app)
    assert await _broken(app) is None
    assert await app.published("operations.alert_raised.v1") == []
    await app.tamper("DELETE FROM ledger_transactions WHERE id = $1", ids[0])
    assert await _broken(app) is not None
    [alert] = await app.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "ledger-changed")
    assert str(ids[0]) in alert["detail"]


async def test_a_verification_whose_process_died_is_repeated_after_its_lease(app: PaymentsApp) -> None:
    clock: ManualClock = app.clock
    database = app.database
    await _link_rewards(app)
    async with app.connected() as owner:
        await owner.execute("ALTER TABLE ledger_links RENAME TO ledger_links_gone")
        with pytest.raises(asyncpg.UndefinedTableError):
            await LEDGER_CHAIN.verify_when_due(database, clock)
        await owner.execute("ALTER TABLE ledger_links_gone RENAME TO ledger_links")
    clock.advance(timedelta(minutes=59, seconds=59))
    assert await LEDGER_CHAIN.verify_when_due(database, clock) is False
    clock.advance(timedelta(seconds=1))
    assert await LEDGER_CHAIN.verify_when_due(database, clock) is True
    clock.advance(timedelta(hours=23, minutes=59, seconds=59))
    assert await LEDGER_CHAIN.verify_when_due(database, clock) is False
    clock.advance(timedelta(seconds=1))
    assert await LEDGER_CHAIN.verify_when_due(database, clock) is True


async def test_a_due_verification_finds_a_changed_ledger(app: PaymentsApp) -> None:
    ids = await _link_rewards(app)
    await app.tamper("DELETE FROM ledger_transactions WHERE id = $1", ids[0])
    assert await LEDGER_CHAIN.verify_when_due(app.database, app.clock) is True
    assert len(await app.published("operations.alert_raised.v1")) == 1
