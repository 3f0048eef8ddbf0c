"""Exit codes, and the exception that ends a command early."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

DONE: Final = 0
REFUSED: Final = 1
MISUSED: Final = 2
NOT_REACHABLE: Final = 3
FINDINGS: Final = 4


@dataclass(slots=True)
class Refused(Exception):
    """A command failed: the reason, and advice for the operator."""

    detail: str
    advice: str = ""
    exit_code: int = REFUSED
    status: int | None = None
    code: str | None = None
    request_id: str | None = None
    invalid_params: Sequence[Mapping[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "detail": self.detail,
            "advice": self.advice or None,
            "exitCode": self.exit_code,
            "status": self.status,
            "code": self.code,
            "requestId": self.request_id,
            "invalidParams": list(self.invalid_params),
        }
