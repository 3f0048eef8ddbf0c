"""Request and response shapes (contract sections 7 and 15.8). Amounts in kobo."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from common.schemas import PositiveKobo, RequestBody, ResponseShape


class IntentRequest(RequestBody):
    """`POST /api/payments/intent`. The amount comes from the order."""

    order_id: UUID
    channel: Literal["card", "ussd", "bank_transfer"] | None = None
    callback_url: str | None = Field(default=None, min_length=1, max_length=2_048)


class ReleaseRequest(RequestBody):
    """`POST /api/orders/:id/release`."""

    amount_minor: PositiveKobo


class Intent(ResponseShape):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: str
    authorization_url: str | None
    access_code: str | None
    expires_at: str


class Payment(ResponseShape):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: str
    channel: str | None
    created_at: str
    paid_at: str | None


class Released(ResponseShape):
    released_minor: int
    remaining_locked_minor: int


class LedgerEntry(ResponseShape):
    account: str
    amount_minor: int = Field(description="Kobo, debit positive.")


class Transaction(ResponseShape):
    id: UUID
    type: str
    posting_key: str
    currency: str
    created_at: str
    entries: list[LedgerEntry]


class LedgerAccount(ResponseShape):
    account: str
    currency: str
    balance_minor: int = Field(description="The sum of the entries in kobo, debit positive.")
    side: str = Field(description="Where the balance normally stands.")


class RewardBalance(ResponseShape):
    balance_minor: int


class QuarantinedCharge(ResponseShape):
    id: UUID
    reference: str
    order_id: UUID | None
    amount_minor: int
    currency: str
    reason: str
    status: str
    created_at: str


class DeadWebhook(ResponseShape):
    id: UUID
    service: str
    event_id: str
    event_type: str
    error: str
    attempts: int
    outcome: str
    failed_at: str
    replayed_at: str | None


class Replayed(ResponseShape):
    id: UUID
    event_id: str
    outcome: str
    requeued: bool


class WebhookReceived(ResponseShape):
    received: bool


def answers(status: int, model: Any) -> dict[int | str, dict[str, Any]]:
    """The documentation of one endpoint's success; the envelope around it is the same everywhere."""
    return {status: {"model": model}}
