"""A buyer's balance and its statement."""

from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import Reads
from common.web.response_models import Row

_BALANCE: Final = """
SELECT rewards_minor, rewards_minor + refunds_minor AS available_minor, held_minor FROM buyer_balances
WHERE user_id = $1
"""
# A user reads the own lines, staff those of each user: the row policy enforces it.
_LINES: Final = """
SELECT id, kind, order_id, amount_minor, balance_minor, at, sequence FROM balance_lines
WHERE user_id = $1 AND ($2::bigint IS NULL OR sequence < $2) ORDER BY sequence DESC LIMIT $3
"""


class FoundBalance(NamedTuple):
    """A balance in kobo; `rewards_minor` is part of what is available."""

    rewards_minor: int = 0
    available_minor: int = 0
    held_minor: int = 0


async def find_balance(reads: Reads, user_id: UUID) -> FoundBalance:
    row = await reads.fetch_row(_BALANCE, user_id)
    return FoundBalance() if row is None else FoundBalance(*row)


async def list_lines(reads: Reads, user_id: UUID, before: int | None, limit: int) -> list[Row]:
    """Return lines from newest to oldest before a sequence, one more than `limit` when there are more."""
    return list(await reads.fetch(_LINES, user_id, before, limit + 1))
