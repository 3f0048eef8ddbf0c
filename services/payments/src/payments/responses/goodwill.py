"""Goodwill refunds, which the platform pays (decision 205)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import StaffDecisionStatus
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash
from payments.responses.ledger import LedgerEntry


class GoodwillRefund(ResponseModel):
    """An amount for the buyer at the platform's expense. The vendor's share stays as it is."""

    id: UUID
    order_id: UUID
    order_number: str | None
    buyer_id: UUID
    amount_minor: Annotated[int, Meta(description="Kobo that the buyer's balance receives.")]
    reason: str
    status: Annotated[StaffDecisionStatus, Meta(description="`approved`: the balance has received the amount.")]
    hash: DecisionHash
    entries: Annotated[list[LedgerEntry], Meta(description="The posting that the approval makes, or made.")]
    prepared_by: UUID
    prepared_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
    rejection_reason: str | None
