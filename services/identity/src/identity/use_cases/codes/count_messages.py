"""Count a message in its budgets."""

from collections.abc import Sequence
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from identity.credentials.code_hashes import budget_hash_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.errors import TooManyMessages
from identity.domain.message_budgets import Budget
from identity.metrics import MESSAGES_REFUSED
from identity.store import message_counts


async def count_messages(uow: UnitOfWork, hashes: KeyedHashes, budgets: Sequence[Budget], *, now: datetime) -> None:
    """Count one message in all budgets. Raises TooManyMessages when one is exhausted; the caller then counts in none."""
    by_hash = {budget_hash_of(hashes, budget): budget for budget in budgets}
    added = [(key, now + budget.window, int(budget.is_counted)) for key, budget in by_hash.items()]
    counted = await message_counts.count_messages(uow, now, added)
    exceeded = {
        by_hash[key]: window_ends_at
        for key, (messages, window_ends_at) in counted.items()
        if messages + (not by_hash[key].is_counted) > by_hash[key].messages_max
    }
    if exceeded:
        for budget in exceeded:
            MESSAGES_REFUSED.labels(budget.subject[0]).inc()
        raise TooManyMessages(max(exceeded.values()) - now)
