"""Credit a referral reward to a new user, once."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import RewardCredited
from payments.domain import postings


async def credit_reward(uow: UnitOfWork, user_id: UUID, amount_minor: int) -> bool:
    """Return whether the reward was credited now; `amount_minor` is in kobo."""
    credited = await ledger.post(uow, postings.referral_reward(user_id, amount_minor))
    if credited:
        uow.publish(RewardCredited(user_id=user_id, amount_minor=amount_minor, reason="referral"))
    return credited
