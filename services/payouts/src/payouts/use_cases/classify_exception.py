"""A person says what is the matter with a payout and how bad it is."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import NotFound
from payouts import store
from payouts.domain.exceptions import Act, Finding, judge_classification
from payouts.use_cases.change_exception import change_exception


async def classify_exception(
    uow: UnitOfWork, exception_id: UUID, finding: Finding, note: str, by: UUID, now: datetime
) -> None:
    """The time to respond counts from the opening. The finding that stands already: success without effect.

    Raises NotFound and ExceptionIsClosed (409).
    """
    standing = await store.lock_exception(uow, exception_id)
    if standing is None:
        raise NotFound
    if judge_classification(standing, finding):
        await change_exception(uow, standing, Act("classified", by, standing.finding, finding, note), now)
