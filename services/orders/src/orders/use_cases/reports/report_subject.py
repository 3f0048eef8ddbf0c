"""Report a product, a review, a vendor or a message."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from orders.domain.reports import ReportAlreadyDecided, SubjectKind
from orders.store import reports


async def report_subject(
    uow: UnitOfWork,
    caller: Caller,
    kind: SubjectKind,
    subject_id: UUID,
    *,
    reason: str,
    details: str | None,
    now: datetime,
) -> tuple[UUID, bool]:
    """Return the id of the caller's open report of the subject, and whether it is new. Raises NotFound and
    ReportAlreadyDecided (409).
    """
    subject = await reports.find_subject(uow, kind, subject_id)
    if subject is None:
        raise NotFound
    report_id = new_id()
    if await reports.record_report_if_new(
        uow, report_id, subject, reporter_id=caller.id, reason=reason, details=details, now=now
    ):
        return report_id, True
    earlier = await reports.find_open_report(uow, subject, caller.id)
    if earlier is None:
        # Decided between the two statements.
        raise ReportAlreadyDecided
    return earlier, False
