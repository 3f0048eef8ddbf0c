"""Credit a referral reward to a new user, once."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import RewardCredited
from payments.domain import postings
from payments.domain.balances import Parts
from payments.store import balances


async def credit_reward(uow: UnitOfWork, user_id: UUID, amount_minor: int, now: datetime) -> bool:
    """Return whether the reward was credited now to the user's balance; `amount_minor` is in kobo.

    An earlier version posted the same key with another account: its reward is not posted again.
    """
    if await balances.is_rewarded(uow, user_id):
        return False
    uow.require_alone()
    if not await ledger.post(uow, postings.referral_reward(user_id, amount_minor)):
        return False
    await balances.record_credit(uow, user_id, "reward", Parts(rewards_minor=amount_minor), now)
    uow.publish(RewardCredited(user_id=user_id, amount_minor=amount_minor, reason="referral"))
    return True
