from datetime import UTC, datetime
from uuid import UUID

import pytest

from payments.domain.audits import Audit, AuditFinding, FindingKind, Verdict

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        ((), "clean"),
        (("waiting",), "open"),
        (("open",), "open"),
        (("broken",), "broken"),
        (("open", "broken", "waiting"), "broken"),
    ],
)
def test_an_audit_has_the_verdict_of_its_worst_finding(kinds: tuple[FindingKind, ...], verdict: Verdict) -> None:
    findings = tuple(AuditFinding("escrow", kind, "order 1", "100", "99") for kind in kinds)
    assert Audit(UUID(int=1), NOW, NOW, None, findings).verdict == verdict
