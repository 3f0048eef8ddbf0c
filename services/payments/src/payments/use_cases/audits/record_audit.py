"""Record the result of an audit."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payments.domain.audits import Audit
from payments.store.audits import find_latest_verdict, record_audit_if_new
from payments.use_cases.alerts import alert_audit


async def record_audit(uow: UnitOfWork, audit: Audit, now: datetime) -> None:
    """Record it once; a broken one raises an alert, which the next other one closes. A repetition has no effect."""
    before = await find_latest_verdict(uow)
    if await record_audit_if_new(uow, audit, now):
        alert_audit(uow, audit, was_broken=before == "broken")
