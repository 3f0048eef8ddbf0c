"""Take in what a signed transfer webhook said."""

from datetime import datetime

from common.database import UnitOfWork
from payouts import store
from payouts.domain.errors import TransferUnheardOf
from payouts.domain.transfer_news import News, Verdict
from payouts.use_cases.record_news import record_news


async def hear_transfer_news(uow: UnitOfWork, reference: str, news: News, now: datetime) -> Verdict:
    """Finds the attempt by the reference that was written down before the gateway heard of it. Raises TransferUnheardOf."""
    transfer = await store.lock_transfer(uow, reference=reference)
    if transfer is None:
        raise TransferUnheardOf(reference)
    return await record_news(uow, transfer, news, now)
