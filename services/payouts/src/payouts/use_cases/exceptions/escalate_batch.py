"""Raise all open exceptions of a batch when failures of many vendors show a common cause."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.exceptions import ExceptionAction, Finding
from payouts.domain.severity import VENDORS_OF_ONE_BATCH
from payouts.use_cases.exceptions.change_exception import change_exception

_ESCALATION_NOTE: Final = f"More than {VENDORS_OF_ONE_BATCH} vendors of the batch have an exception."


async def escalate_batch(uow: UnitOfWork, batch_id: UUID, now: datetime) -> None:
    """Raise each to SEV-1, with its history. The batch must be locked, so that none opens in the meantime."""
    for exception in await store.lock_open_exceptions_of_batch(uow, batch_id):
        if exception.finding.severity != "SEV-1":
            raised = Finding(exception.finding.cause, "SEV-1")
            await change_exception(
                uow, exception, ExceptionAction("changed", None, exception.finding, raised, _ESCALATION_NOTE), now
            )
