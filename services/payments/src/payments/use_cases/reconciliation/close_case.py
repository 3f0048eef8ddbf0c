"""Close a reconciliation case by hand, with the evidence that explains it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.domain.errors import CaseNotOpen
from payments.domain.transitions import CASE
from payments.store import reconciliation


async def close_case(uow: UnitOfWork, case_id: UUID, by: UUID, evidence: str, now: datetime) -> None:
    """Close the case. The same difference opens no new one; one with other figures does. Raises NotFound and
    CaseNotOpen (409).
    """
    status = await reconciliation.lock_case_status(uow, case_id)
    if status is None:
        raise NotFound
    if not CASE.allows(status, "closed"):
        raise CaseNotOpen
    await reconciliation.save_case_closed(uow, case_id, now, by, evidence)
