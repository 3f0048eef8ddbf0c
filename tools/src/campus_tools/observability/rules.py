"""Prometheus alert rules."""

from dataclasses import dataclass
from typing import Any, Final, Literal

Severity = Literal["SEV-1", "SEV-2", "SEV-3"]
# Response time of the on-call staff by severity (specification: payout failure handling; all alerts use it).
RESPONSE: Final[dict[Severity, str]] = {"SEV-1": "15 minutes", "SEV-2": "1 hour", "SEV-3": "4 hours"}


# Requests of users, without health probes and scrapes.
USER_REQUESTS: Final = 'route!~"/health/.*|/metrics"'


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. `name` is also its page in docs/runbooks. `lasting`: how long the expression must hold before it fires."""

    name: str
    severity: Severity
    expression: str
    lasting: str
    summary: str

    @property
    def rule(self) -> dict[str, Any]:
        return {
            "alert": self.name,
            "expr": self.expression,
            "for": self.lasting,
            "labels": {"severity": self.severity},
            "annotations": {
                "summary": self.summary,
                "respond_within": RESPONSE[self.severity],
                "runbook": f"docs/runbooks/{self.name}.md",
            },
        }
