"""Audits of all services (contract section 13.3)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta
from pydantic import Field

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.audits import FindingKind, Verdict

# Shared with the request.
Kind = Annotated[
    FindingKind,
    Field(description="`broken`: a rule does not hold; `open`: staff must decide; `waiting`: a message is under way."),
]


class AuditFinding(ResponseModel):
    """A difference that an audit found."""

    check: Annotated[str, Meta(description="The rule, with its service or `all`.")]
    kind: Kind
    subject: Annotated[str, Meta(description="The row or account.")]
    expected: str
    actual: str


class Audit(ResponseModel):
    """An audit of the money invariants of all services."""

    id: UUID
    started_at: Timestamp
    finished_at: Timestamp
    verdict: Annotated[
        Verdict, Meta(description="`broken` with a broken finding, `open` with any other, else `clean`.")
    ]
    gateway_compared: Annotated[bool, Meta(description="Whether the ledgers were compared with the payment gateway.")]
    gateway_reason: str | None
    findings: list[AuditFinding]
