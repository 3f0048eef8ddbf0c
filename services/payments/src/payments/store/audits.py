"""Recorded audits. Rows are only added."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from payments.domain.audits import Audit, Verdict

_RECORD: Final = """
INSERT INTO audits (id, started_at, finished_at, verdict, gateway_reason, recorded_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING
"""
_RECORD_FINDING: Final = """
INSERT INTO audit_findings (audit_id, position, check_name, kind, subject, expected, actual)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_LATEST: Final = "SELECT verdict FROM audits ORDER BY started_at DESC, id DESC LIMIT 1"


async def find_latest_verdict(uow: UnitOfWork) -> Verdict | None:
    verdict: Verdict | None = await uow.fetch_value(_LATEST)
    return verdict


async def record_audit_if_new(uow: UnitOfWork, audit: Audit, now: datetime) -> bool:
    """Record it with its findings; False when it was recorded before."""
    values = (audit.id, audit.started_at, audit.finished_at, audit.verdict, audit.gateway_reason, now)
    if not await uow.execute(_RECORD, *values):
        return False
    rows = [
        (audit.id, position, finding.check, finding.kind, finding.subject, finding.expected, finding.actual)
        for position, finding in enumerate(audit.findings)
    ]
    await uow.execute_many(_RECORD_FINDING, rows)
    return True
