"""Rules in the words of Prometheus."""

from dataclasses import dataclass
from typing import Any, Final, Literal

Severity = Literal["SEV-1", "SEV-2", "SEV-3"]
# Within what time somebody looks (specification: payout failure handling, and the same for everything else that wakes people).
RESPONSE: Final[dict[Severity, str]] = {"SEV-1": "15 minutes", "SEV-2": "1 hour", "SEV-3": "4 hours"}


# The requests that are not those of the watchers: their answers say how a process is, not how people fare.
USER_REQUESTS: Final = 'route!~"/health/.*|/metrics"'


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. `name` is also the name of its page in docs/runbooks; `lasting` is for how long it must hold."""

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
