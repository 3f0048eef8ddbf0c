"""Verify the chain of hashes over the book, and say it aloud when the past was changed."""

from common.chain import ChainReport
from common.database import Database
from payments.measures import BOOK


async def verify_book(database: Database, expected: tuple[int, bytes] | None = None) -> ChainReport:
    """The report; a break raises a SEV-1 alert. `expected` is the length and head of an earlier report."""
    return await BOOK.verify(database, expected)
