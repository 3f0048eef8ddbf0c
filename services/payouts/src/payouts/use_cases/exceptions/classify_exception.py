"""Staff set the cause and the severity of an exception."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.domain.exceptions import ExceptionAction, Finding, check_classification
from payouts.store import exceptions
from payouts.use_cases.exceptions.steps import change_exception


async def classify_exception(
    uow: UnitOfWork, exception_id: UUID, finding: Finding, note: str, by: UUID, now: datetime
) -> None:
    """Open an exception. The response time counts from the opening. The present finding again has no effect.

    Raises NotFound and ExceptionIsClosed (409).
    """
    exception = await exceptions.lock_exception(uow, exception_id)
    if exception is None:
        raise NotFound
    if check_classification(exception, finding):
        await change_exception(uow, exception, ExceptionAction("classified", by, exception.finding, finding, note), now)
