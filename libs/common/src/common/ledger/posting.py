"""The double-entry mechanism of two ledgers: payments' escrow ledger and payouts' wallet ledger (contract section 7).

Amounts are signed 64-bit kobo, debit positive. Every transaction sums to zero, posting keys are unique, rows never
change, and guarded accounts never fall below zero. The database rejects violations of any of these rules.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple

import asyncpg
import msgspec

from common.database.outbox import Writes
from common.database.parameters import with_places_after
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Conflict

Side = Literal["debit", "credit"]


class Account(NamedTuple):
    """An account of a ledger. `side` is its normal side; the balance of a guarded account is never on the other side.

    Only guarded accounts have a running balance, whose row lock serializes their postings. Accounts in every posting,
    such as `gateway_cash`, are not guarded: their balance is the sum of their entries, so that no transaction waits.
    """

    name: str
    side: Side
    guarded: bool


class Entry(NamedTuple):
    """One entry of a transaction, in kobo, debit positive."""

    account: Account
    amount_minor: int


@dataclass(frozen=True, slots=True)
class Posting:
    """A balanced transaction before it is written. Equal key and content mean the same posting."""

    key: str
    type: str
    entries: tuple[Entry, ...]
    currency: str = "NGN"

    def __post_init__(self) -> None:
        if sum(entry.amount_minor for entry in self.entries) != 0:
            raise ValueError(f"posting {self.key} does not sum to zero")
        if any(entry.amount_minor == 0 for entry in self.entries) or len(self.entries) < 2:
            raise ValueError(f"posting {self.key} has an entry of zero, or less than two entries")
        if len({entry.account.name for entry in self.entries}) != len(self.entries):
            raise ValueError(f"posting {self.key} names an account twice")

    @property
    def content_hash(self) -> bytes:
        """SHA-256 of type, currency and entries: distinguishes a repetition from a conflict."""
        lines = sorted((entry.account.name, entry.amount_minor) for entry in self.entries)
        return hashlib.sha256(msgspec.json.encode([self.type, self.currency, lines])).digest()


def debit(account: Account, amount_minor: int) -> Entry:
    """Return a debit entry, in kobo."""
    return Entry(account, amount_minor)


def credit(account: Account, amount_minor: int) -> Entry:
    """Return a credit entry, in kobo."""
    return Entry(account, -amount_minor)


def balanced(key: str, type: str, entries: Iterable[Entry], currency: str = "NGN") -> Posting:  # noqa: A002 - the contract's word
    """Return a posting of the entries other than zero, such as a commission of zero."""
    return Posting(key, type, tuple(entry for entry in entries if entry.amount_minor != 0), currency)


class PostingKeyConflict(Conflict):
    """The posting key exists with other content. One of the two postings is wrong."""

    detail = "This posting key was already used with other content."


class AccountOverdrawn(Conflict):
    """A guarded account would fall below zero. No row was written."""

    detail = "The balance of the account is too low."


POST: Final = "SELECT ledger_post($1, $2, $3, $4, $5, $6, $7, $8, $9)"


class Effect(NamedTuple):
    """A data-modifying statement with its values, which another statement runs."""

    statement: str
    values: Sequence[object]


async def post(uow: UnitOfWork, posting: Posting) -> bool:
    """Write the posting in this unit of work. Return False when the same posting exists.

    Raises PostingKeyConflict (the key exists with other content) and AccountOverdrawn, both 409. After either of them
    the transaction has failed in PostgreSQL.
    """
    with posting_errors():
        return bool(await uow.fetch_value(POST, *_values_of(posting)))


def _values_of(posting: Posting) -> Sequence[object]:
    entries: Sequence[Entry] = sorted(posting.entries, key=lambda entry: entry.account.name)
    return (
        new_id(),
        posting.type,
        posting.key,
        posting.currency,
        posting.content_hash,
        [entry.account.name for entry in entries],
        [entry.account.side for entry in entries],
        [entry.account.guarded for entry in entries],
        [entry.amount_minor for entry in entries],
    )


def with_posting(writes: Writes, values: Sequence[object], posting: Posting) -> tuple[Writes, Sequence[object]]:
    """Return the writes, and their values, with the posting in the same round trip. Run them in `posting_errors`."""
    return _posted(writes, len(values)), (*values, *_values_of(posting))


@cache
def _posted(writes: Writes, count: int) -> Writes:
    return Writes(writes.tables, f"{writes.result}, ({with_places_after(count, POST)}) AS is_posted")


@contextmanager
def posting_errors() -> Iterator[None]:
    """Raise the errors of `post` in place of PostgreSQL's."""
    try:
        yield
    except asyncpg.CheckViolationError as error:
        if error.constraint_name == "ledger_balances_never_negative":
            raise AccountOverdrawn from error
        raise
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name == "ledger_transactions_posting_key_once":
            raise PostingKeyConflict from error
        raise
