"""The hash chain of a ledger, which reveals a changed past.

Each transaction's link is the SHA-256 of the previous link and of its own content in a canonical form.

Postings run concurrently, and a chain inside them would serialize them all. So a posting only registers itself in
`ledger_unsealed`, and a loop of the worker adds its link within seconds after the commit. The chain is in the order of
linking: a transaction that commits late is linked late, never skipped. A row that was written without `ledger_post` is
not registered, gets no link, and is detected by that.

The chain reveals changed rows. An earlier report reveals a rewrite of the whole chain: its length and head, stored
outside the database, must still be a link of the chain (`expected`).
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database

# `fetch(statement, *values)` of a connection, or of one unit of work per page.
Fetch = Callable[..., Awaitable[list[asyncpg.Record]]]
# Account, kobo and currency.
Entry = tuple[str, int, str]
# A transaction and its entries.
Content = tuple[asyncpg.Record, list[Entry]]

# A few milliseconds of hashing: other work of the process runs between two batches.
LINKS_PER_BATCH: Final = 500
_PAGE: Final = 500
# A posting has its link within seconds; one that is older than this and has none is missing from the chain.
UNLINKED_SECONDS_MAX: Final = 60

FIRST_LINK: Final = hashlib.sha256(b"").digest()


@dataclass(frozen=True, slots=True)
class Break:
    """The first row that contradicts the chain: its sequence, its transaction, and the fault."""

    sequence: int | None
    transaction_id: UUID | None
    fault: str

    def __str__(self) -> str:
        place = "" if self.sequence is None else f"link {self.sequence}: "
        return f"{place}{f'transaction {self.transaction_id} ' if self.transaction_id else ''}{self.fault}"


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The result of a verification: length and head of the chain, and the first break, if any."""

    length: int
    head: bytes
    broken: Break | None


def link_of(previous: bytes, transaction: asyncpg.Record, entries: Sequence[Entry]) -> bytes:
    """Return the link of a transaction after `previous`. `entries` are (account, kobo, currency), in any order."""
    content = [
        str(transaction["id"]),
        transaction["position"],
        transaction["type"],
        transaction["posting_key"],
        transaction["currency"],
        transaction["created_at"].astimezone(UTC).isoformat(timespec="microseconds"),
        sorted([list(entry) for entry in entries]),
    ]
    return hashlib.sha256(previous + msgspec.json.encode(content)).digest()


# Nothing is locked while no posting waits: a lock alone would write and flush a commit at each turn of the loop.
_HOLD_CHAIN: Final = """
SELECT length, head FROM ledger_chain WHERE EXISTS (SELECT FROM ledger_unsealed) FOR UPDATE SKIP LOCKED
"""
_UNLINKED_BATCH: Final = (
    f"SELECT position, transaction_id FROM ledger_unsealed ORDER BY position LIMIT {LINKS_PER_BATCH}"
)
_RECORD_LINKS: Final = """
INSERT INTO ledger_links (sequence, transaction_id, link) SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[])
"""
_DELETE_UNLINKED: Final = "DELETE FROM ledger_unsealed WHERE position = ANY ($1::bigint[])"
# Registers accounts that concurrent first postings left unregistered. It never waits for another transaction.
_REGISTER_ACCOUNTS: Final = """
WITH missing AS MATERIALIZED (
    SELECT e.account, e.currency, min(t.created_at) AS opened_at
    FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
    WHERE t.id = ANY ($1::uuid[]) AND NOT EXISTS (SELECT FROM ledger_accounts known WHERE known.account = e.account)
    GROUP BY e.account, e.currency
)
INSERT INTO ledger_accounts (account, currency, opened_at)
SELECT account, currency, opened_at FROM missing WHERE pg_try_advisory_xact_lock(hashtextextended(account, 0))
ON CONFLICT (account) DO NOTHING
"""
_SAVE_CHAIN: Final = "UPDATE ledger_chain SET length = $1, head = $2"


async def extend_chain_once(database: Database) -> int:
    """Links one batch of postings, and returns their number. A concurrent second worker does nothing."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        chain = await uow.fetch_row(_HOLD_CHAIN)
        if chain is None:
            return 0
        waiting = await uow.fetch(_UNLINKED_BATCH)
        if not waiting:
            return 0
        found = await _contents(uow.fetch, [row["transaction_id"] for row in waiting])
        length, head = chain["length"], chain["head"]
        links: list[tuple[int, UUID, bytes]] = []
        for row in waiting:
            # A transaction that was deleted before it was linked stays registered, and the verification reports it.
            if (content := found.get(row["transaction_id"])) is not None:
                length, head = length + 1, link_of(head, *content)
                links.append((length, row["transaction_id"], head))
        linked = [row["position"] for row in waiting if row["transaction_id"] in found]
        await uow.execute(_RECORD_LINKS, *[[link[column] for link in links] for column in range(3)])
        await uow.execute(_REGISTER_ACCOUNTS, [link[1] for link in links])
        await uow.execute(_DELETE_UNLINKED, linked)
        await uow.execute(_SAVE_CHAIN, length, head)
        return len(links)


_CHAIN: Final = "SELECT length, head FROM ledger_chain"
_LINKS: Final = f"""
SELECT sequence, transaction_id, link FROM ledger_links WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence
LIMIT {_PAGE}
"""
_TRANSACTIONS: Final = """
SELECT id, position, type, posting_key, currency, created_at FROM ledger_transactions WHERE id = ANY ($1::uuid[])
"""
_ENTRIES: Final = """
SELECT transaction_id, account, amount_minor, currency FROM ledger_entries WHERE transaction_id = ANY ($1::uuid[])
"""
_BEYOND: Final = """
SELECT sequence, transaction_id FROM ledger_links WHERE sequence > (SELECT length FROM ledger_chain) ORDER BY sequence
LIMIT 1
"""
_UNLINKED: Final = f"""
SELECT t.id, EXISTS (SELECT FROM ledger_unsealed u WHERE u.transaction_id = t.id) AS waits
FROM ledger_transactions t LEFT JOIN ledger_links l ON l.transaction_id = t.id
WHERE l.transaction_id IS NULL AND t.created_at < now() - make_interval(secs => {UNLINKED_SECONDS_MAX})
ORDER BY t.position LIMIT 1
"""
_REMOVED_UNLINKED: Final = """
SELECT u.transaction_id FROM ledger_unsealed u
WHERE NOT EXISTS (SELECT FROM ledger_transactions t WHERE t.id = u.transaction_id) ORDER BY u.position LIMIT 1
"""
_STRAY_ENTRY: Final = """
SELECT e.transaction_id FROM ledger_entries e LEFT JOIN ledger_transactions t ON t.id = e.transaction_id
WHERE t.id IS NULL LIMIT 1
"""
_COUNT_UNLINKED: Final = "SELECT count(*) AS waiting FROM (SELECT FROM ledger_unsealed LIMIT 100000) AS head"


async def verify_chain(fetch: Fetch, expected: tuple[int, bytes] | None = None) -> ChainReport:
    """Recomputes every link of the chain in pages, then searches for rows outside the chain.

    `expected` is the length and head of an earlier report; that link must be unchanged.
    """
    [chain] = await fetch(_CHAIN)
    length, head = chain["length"], bytes(chain["head"])
    broken = await _walk(fetch, length, head, expected) or await _outside(fetch)
    return ChainReport(length, head, broken)


async def count_unlinked(fetch: Fetch) -> int:
    """Return the number of postings without a link, counted up to 100,000."""
    [row] = await fetch(_COUNT_UNLINKED)
    return int(row["waiting"])


async def _walk(fetch: Fetch, length: int, head: bytes, expected: tuple[int, bytes] | None) -> Break | None:
    sequence, previous = 0, FIRST_LINK
    while sequence < length:
        page = await fetch(_LINKS, sequence, length)
        found = await _contents(fetch, [row["transaction_id"] for row in page])
        for row in page:
            sequence += 1
            fault = _fault_of(row, sequence, found.get(row["transaction_id"]), previous)
            if fault is not None:
                return fault
            previous = bytes(row["link"])
            if expected is not None and expected[0] == sequence and previous != expected[1]:
                return Break(sequence, row["transaction_id"], "is not what the earlier report ended with")
        if not page:
            return Break(sequence + 1, None, f"is missing: the chain has {length} links")
    if previous != head:
        return Break(length, None, "is not the head that the chain was left with")
    if expected is not None and expected[0] > length:
        return Break(length, None, f"is the last one, and the earlier report counted {expected[0]}")
    return None


def _fault_of(row: asyncpg.Record, sequence: int, content: Content | None, previous: bytes) -> Break | None:
    if row["sequence"] != sequence:
        return Break(sequence, None, "is missing")
    if content is None:
        return Break(sequence, row["transaction_id"], "was removed")
    if link_of(previous, *content) != row["link"]:
        return Break(sequence, row["transaction_id"], "is not what was sealed")
    return None


async def _outside(fetch: Fetch) -> Break | None:
    """Search for links beyond the end of the chain, and for transactions and entries without a link."""
    for row in await fetch(_BEYOND):
        return Break(row["sequence"], row["transaction_id"], "stands behind the end of the chain")
    for row in await fetch(_REMOVED_UNLINKED):
        return Break(None, row["transaction_id"], "was removed before it was sealed")
    for row in await fetch(_UNLINKED):
        fault = "waits for its link for too long" if row["waits"] else "was written past the posting function"
        return Break(None, row["id"], fault)
    for row in await fetch(_STRAY_ENTRY):
        return Break(None, row["transaction_id"], "has entries and does not exist")
    return None


async def _contents(fetch: Fetch, ids: Sequence[UUID]) -> dict[UUID, Content]:
    """Return the existing transactions, each with its entries."""
    found: dict[UUID, Content] = {row["id"]: (row, []) for row in await fetch(_TRANSACTIONS, ids)}
    for entry in await fetch(_ENTRIES, ids):
        if entry["transaction_id"] in found:
            found[entry["transaction_id"]][1].append((entry["account"], entry["amount_minor"], entry["currency"]))
    return found
