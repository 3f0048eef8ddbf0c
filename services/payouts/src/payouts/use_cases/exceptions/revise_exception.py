"""Apply a further report to an open exception."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.exceptions import ExceptionAction, Finding, OpenException, revised
from payouts.use_cases.exceptions.change_exception import change_exception


async def revise_exception(
    uow: UnitOfWork, exception: OpenException, update: Finding, detail: str, now: datetime
) -> None:
    """Change the finding of the locked, open exception, or records the detail once in its history."""
    finding = revised(exception, update)
    if finding != exception.finding:
        await change_exception(
            uow, exception, ExceptionAction("changed", None, exception.finding, finding, detail), now
        )
    elif detail != exception.detail and not await store.has_note(uow, exception.id, detail):
        await store.record_exception_action(
            uow, exception.id, ExceptionAction("noted", None, finding, finding, detail), now
        )
