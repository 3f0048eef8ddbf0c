"""Move the rewards that an earlier version credited to the balances of their users."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.domain.balances import Parts
from payments.store import balances

# One transaction's work, which holds the locks of these balances.
MOVED_MAX = 100


async def move_rewards(uow: UnitOfWork, now: datetime) -> int:
    """Return the number of moved rewards, at most `MOVED_MAX`. What a user is owed stays the same."""
    unmoved = await balances.list_unmoved_rewards(uow, MOVED_MAX)
    for user_id, amount_minor in unmoved:
        if await ledger.post(uow, postings.reward_moved(user_id, amount_minor)):
            await balances.record_credit(uow, user_id, "reward", Parts(rewards_minor=amount_minor), now)
    return len(unmoved)
