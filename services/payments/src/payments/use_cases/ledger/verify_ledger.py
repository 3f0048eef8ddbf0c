"""Verify the chain of hashes over the book, and say it aloud when the past was changed."""

from common.database.unit_of_work import Database
from common.ledger.hash_chain import ChainReport
from payments.metrics import BOOK


async def verify_ledger(database: Database, expected: tuple[int, bytes] | None = None) -> ChainReport:
    """The report; a break raises a SEV-1 alert. `expected` is the length and head of an earlier report."""
    return await BOOK.verify(database, expected)
