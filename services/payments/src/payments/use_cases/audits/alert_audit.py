"""Alert the on-call staff of a broken audit (contract section 13.3)."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from payments.domain.audits import ALERT_KEY, Audit


def alert_audit(uow: UnitOfWork, audit: Audit, *, was_broken: bool) -> None:
    """Raise the alert of a broken audit, or clear the one of the audit before."""
    if audit.verdict == "broken":
        broken = [finding for finding in audit.findings if finding.kind == "broken"]
        checks = sorted({finding.check for finding in broken})
        uow.publish(
            AlertRaised(
                alert_id=new_id(),
                severity="SEV-1",
                title=f"The audit is broken: {len(checks)} checks",
                detail=f"{len(broken)} findings; the first check is {checks[0]!r}. GET /api/audits/{audit.id} lists them.",
                runbook="audit-broken",
                dedup_key=ALERT_KEY,
                about=str(audit.id),
            ),
            source="payments",
        )
    elif was_broken:
        reason = f"the audit {audit.id} found nothing broken"
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=ALERT_KEY, reason=reason), source="payments")
