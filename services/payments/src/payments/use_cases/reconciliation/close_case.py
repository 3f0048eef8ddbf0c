"""Close a reconciliation case by hand, with the evidence that explains it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.domain.errors import CaseNotOpen
from payments.store import reconciliation as store


async def close_case(uow: UnitOfWork, case_id: UUID, by: UUID, evidence: str, now: datetime) -> None:
    """The same difference opens no new case; one with other figures does. Raises NotFound and CaseNotOpen (409)."""
    case = await store.lock_case(uow, case_id)
    if case is None:
        raise NotFound
    if case["status"] != "open":
        raise CaseNotOpen
    await store.save_case_closed(uow, case_id, now, by, evidence)
