"""Further news of what has an open exception."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.exceptions import Act, Finding, OpenException, revised
from payouts.use_cases.exceptions.change_exception import change_exception


async def revise_exception(uow: UnitOfWork, standing: OpenException, news: Finding, detail: str, now: datetime) -> None:
    """What the news finds takes effect on the locked, open exception, and what it says is kept in the trail, once."""
    finding = revised(standing, news)
    if finding != standing.finding:
        await change_exception(uow, standing, Act("changed", None, standing.finding, finding, detail), now)
    elif detail != standing.detail and not await store.is_noted(uow, standing.id, detail):
        await store.record_act(uow, standing.id, Act("noted", None, finding, finding, detail), now)
