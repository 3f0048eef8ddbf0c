"""Reconciliation cases."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.reconciliation import Kind
from payments.domain.transitions import CaseStatus


class ReconciliationCase(ResponseModel):
    id: UUID
    kind: Kind
    subject: str
    reference: str | None
    order_id: UUID | None
    order_number: str | None
    ours_minor: Annotated[int, Meta(description="Kobo by the ledger or by the order.")]
    theirs_minor: Annotated[int, Meta(description="Kobo by the gateway, or by the charge for a difference inside.")]
    unexplained_minor: Annotated[int, Meta(description="Kobo of the difference that nothing explains.")]
    currency: str
    detail: str
    status: Annotated[
        CaseStatus,
        Meta(description="`open`, `explained` by a later look, or `closed` by a person."),
    ]
    created_at: Timestamp
    last_seen_at: Annotated[Timestamp, Meta(description="The time at which it was last found.")]
    closed_at: Timestamp | None
    closed_by: UUID | None
    evidence: str | None
