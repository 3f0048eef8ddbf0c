import asyncio

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.auth.caller import THE_SERVICE, Caller
from common.ledger.posting import (
    Account,
    AccountOverdrawn,
    Entry,
    Posting,
    PostingKeyConflict,
    balanced,
    credit,
    debit,
    post,
)
from common.primitives.ids import new_id

from .conftest import Mechanisms

CASH = Account("gateway_cash", "debit", guarded=False)


def escrow(name: str) -> Account:
    return Account(f"escrow:{name}", "credit", guarded=True)


def charge(key: str, name: str, amount_minor: int) -> Posting:
    return balanced(key, "charge", [debit(CASH, amount_minor), credit(escrow(name), amount_minor)])


def refund(key: str, name: str, amount_minor: int) -> Posting:
    return balanced(key, "refund", [debit(escrow(name), amount_minor), credit(CASH, amount_minor)])


async def written(mechanisms: Mechanisms, posting: Posting) -> bool:
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await post(uow, posting)


async def stands(mechanisms: Mechanisms, account: Account) -> int:
    """Return the balance in kobo on the account's normal side; of a guarded account also its running balance."""
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        total = await uow.fetch_value(
            "SELECT coalesce(sum(amount_minor), 0)::bigint FROM ledger_entries WHERE account = $1", account.name
        )
        running = await uow.fetch_value("SELECT balance_minor FROM ledger_balances WHERE account = $1", account.name)
    balance = total if account.side == "debit" else -total
    assert (running or 0) == (balance if account.guarded else 0)
    return balance


async def test_a_posting_changes_both_accounts(mechanisms: Mechanisms) -> None:
    assert await written(mechanisms, charge("c1", "a", 500))
    assert await stands(mechanisms, CASH) == 500
    assert await stands(mechanisms, escrow("a")) == 500


async def test_a_posting_key_is_used_for_one_content_only(mechanisms: Mechanisms) -> None:
    assert await written(mechanisms, charge("c1", "a", 500))
    assert not await written(mechanisms, charge("c1", "a", 500))
    with pytest.raises(PostingKeyConflict):
        await written(mechanisms, charge("c1", "a", 501))
    assert await stands(mechanisms, escrow("a")) == 500


async def test_concurrent_identical_postings_are_written_once(mechanisms: Mechanisms) -> None:
    outcomes = await asyncio.gather(*(written(mechanisms, charge("c1", "a", 500)) for _ in range(20)))
    assert sorted(outcomes) == [False] * 19 + [True]
    assert await stands(mechanisms, escrow("a")) == 500


async def test_a_guarded_account_never_falls_below_zero_under_concurrency(mechanisms: Mechanisms) -> None:
    await written(mechanisms, charge("c1", "a", 1000))

    async def withdraw(number: int) -> bool:
        try:
            return await written(mechanisms, refund(f"r{number}", "a", 300))
        except AccountOverdrawn:
            return False

    withdrawn = await asyncio.gather(*(withdraw(number) for number in range(10)))
    assert sum(withdrawn) == 3
    assert await stands(mechanisms, escrow("a")) == 100


async def test_a_guarded_account_cannot_start_below_zero(mechanisms: Mechanisms) -> None:
    with pytest.raises(AccountOverdrawn):
        await written(mechanisms, refund("r1", "nothing-was-paid", 1))
    assert await stands(mechanisms, CASH) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_entries SET amount_minor = 1",
        "DELETE FROM ledger_entries",
        "TRUNCATE ledger_entries",
        "UPDATE ledger_transactions SET type = 'x'",
        "DELETE FROM ledger_transactions",
    ],
)
async def test_the_owner_of_the_tables_cannot_change_postings(mechanisms: Mechanisms, statement: str) -> None:
    await written(mechanisms, charge("c1", "a", 500))
    owner = await asyncpg.connect(mechanisms.urls.owner)
    try:
        with pytest.raises(asyncpg.PostgresError, match=r"append-only|referenced in a foreign key"):
            await owner.execute(statement)
    finally:
        await owner.close()


async def test_the_database_rejects_an_unbalanced_transaction(mechanisms: Mechanisms) -> None:
    owner = await asyncpg.connect(mechanisms.urls.owner)
    try:
        with pytest.raises(asyncpg.PostgresError, match="sum to zero"):
            await owner.execute(
                "SELECT ledger_post($1, 'x', 'k', 'NGN', ''::bytea, '{a,b}', '{debit,credit}', '{f,f}', '{5,-4}')",
                new_id(),
            )
        assert await owner.fetchval("SELECT count(*) FROM ledger_transactions") == 0
    finally:
        await owner.close()


@pytest.mark.parametrize("acting_as", [THE_SERVICE, Caller(user_id=new_id())])
async def test_the_roles_of_the_service_post_by_the_function_only(mechanisms: Mechanisms, acting_as) -> None:
    for statement in (
        "INSERT INTO ledger_balances VALUES ('a', 'NGN', 'credit', 5)",
        "DELETE FROM ledger_balances",
        "DELETE FROM ledger_entries",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with mechanisms.database.unit_of_work(acting_as=acting_as) as uow:
                await uow.execute(statement)


async def test_an_account_keeps_its_currency(mechanisms: Mechanisms) -> None:
    await written(mechanisms, charge("c1", "a", 500))
    foreign = balanced("c2", "charge", [debit(CASH, 500), credit(escrow("a"), 500)], currency="GHS")
    with pytest.raises(asyncpg.PostgresError, match="keeps its currency"):
        await written(mechanisms, foreign)
    assert await stands(mechanisms, escrow("a")) == 500


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ((debit(CASH, 5), credit(escrow("a"), 4)), "sum to zero"),
        ((debit(CASH, 5), credit(escrow("a"), 5), debit(escrow("b"), 0)), "an entry of zero"),
        ((), "less than two entries"),
        ((debit(CASH, 5), credit(escrow("a"), 4), credit(escrow("a"), 1)), "an account twice"),
    ],
)
def test_a_posting_that_is_not_balanced_cannot_be_constructed(entries: tuple[Entry, ...], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Posting("k", "charge", entries)


def test_a_balanced_posting_omits_entries_of_zero() -> None:
    posting = balanced("k", "charge", [debit(CASH, 5), credit(escrow("a"), 5), credit(escrow("b"), 0)])
    assert posting.entries == (Entry(CASH, 5), Entry(escrow("a"), -5))


def test_equal_content_has_an_equal_hash_whatever_the_order_of_its_entries() -> None:
    posting = charge("c1", "a", 500)
    reordered = balanced("c2", "charge", [credit(escrow("a"), 500), debit(CASH, 500)])
    assert posting.content_hash == reordered.content_hash
    for other in (charge("c1", "a", 501), charge("c1", "b", 500), refund("c1", "a", 500)):
        assert other.content_hash != posting.content_hash


@given(steps=st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 50), st.booleans()), max_size=15))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_every_balance_equals_the_sum_of_its_entries(mechanisms: Mechanisms, steps) -> None:
    for name, amount_minor, comes in steps:
        posting = (charge if comes else refund)(str(new_id()), name, amount_minor)
        try:
            await written(mechanisms, posting)
        except AccountOverdrawn:
            assert await stands(mechanisms, escrow(name)) < amount_minor
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT coalesce(sum(amount_minor), 0) FROM ledger_entries") == 0
        assert (
            await uow.fetch(
                "SELECT account FROM ledger_balances b WHERE balance_minor <> "
                "(SELECT -sum(amount_minor) FROM ledger_entries e WHERE e.account = b.account)"
            )
            == []
        )
