"""Audits of all services (contract section 13.3)."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from common.web.schemas import Instant, RequestBody
from payments.responses.audits import Kind

# The findings of an audit and the characters of their texts that are recorded; the audit itself prints all.
FINDINGS_MAX: Final = 500
TEXT_MAX: Final = 1_000

_Text = Annotated[str, StringConstraints(max_length=TEXT_MAX)]


class AuditFindingRequest(RequestBody):
    check: _Text
    kind: Kind
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
