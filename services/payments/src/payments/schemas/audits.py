"""Audits of all services (contract section 13.3)."""

from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from common.web.schemas import Instant, RequestBody, ResponseShape
from payments.domain.audits import FindingKind, Verdict

# The findings of an audit and the characters of their texts that are recorded; the audit itself prints all.
FINDINGS_MAX: Final = 500
TEXT_MAX: Final = 1_000

_Text = Annotated[str, StringConstraints(max_length=TEXT_MAX)]
_Check = Annotated[str, Field(description="The rule, with its service or `all`.")]
_Kind = Annotated[
    FindingKind,
    Field(description="`broken`: a rule does not hold; `open`: staff must decide; `waiting`: a message is under way."),
]


class AuditFindingRequest(RequestBody):
    check: _Text
    kind: _Kind
    subject: _Text
    expected: _Text
    actual: _Text


class RecordAuditRequest(RequestBody):
    id: UUID
    started_at: Instant
    finished_at: Instant
    gateway_reason: Annotated[
        _Text | None, Field(description="Why the payment gateway was not compared; null when it was.")
    ]
    findings: Annotated[list[AuditFindingRequest], Field(max_length=FINDINGS_MAX)]

    @model_validator(mode="after")
    def ends_after_its_start(self) -> "RecordAuditRequest":
        if self.finished_at < self.started_at:
            raise ValueError("finishedAt must not be before startedAt")
        return self


class AuditFinding(ResponseShape):
    """A difference that an audit found."""

    check: _Check
    kind: _Kind
    subject: Annotated[str, Field(description="The row or account.")]
    expected: str
    actual: str


class Audit(ResponseShape):
    """An audit of the money invariants of all services."""

    id: UUID
    started_at: datetime
    finished_at: datetime
    verdict: Annotated[
        Verdict, Field(description="`broken` with a broken finding, `open` with any other, else `clean`.")
    ]
    gateway_compared: Annotated[bool, Field(description="Whether the ledgers were compared with the payment gateway.")]
    gateway_reason: str | None
    findings: list[AuditFinding]
