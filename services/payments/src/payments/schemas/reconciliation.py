"""Reconciliation cases."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody, ResponseShape
from payments.domain.reconciliation import Kind


class CloseReconciliationCaseRequest(RequestBody):
    """`POST /api/reconciliation-cases/:id/close`."""

    evidence: str = Field(min_length=1, max_length=2_000)


class ReconciliationCase(ResponseShape):
    id: UUID
    kind: Kind
    subject: str
    reference: str | None
    order_id: UUID | None
    order_number: str | None = Field(
        description="The order's number for people; null without an order, and where it is not known."
    )
    ours_minor: int = Field(description="Kobo by the book or by the order.")
    theirs_minor: int = Field(description="Kobo by the gateway, or by the charge for a difference inside.")
    unexplained_minor: int
    currency: str
    detail: str
    status: Literal["open", "explained", "closed"] = Field(
        description="`open`, `explained` by a later look, or `closed` by a person."
    )
    created_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None
    closed_by: UUID | None
    evidence: str | None
