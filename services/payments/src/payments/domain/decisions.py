"""The content of four-eyes decisions about quarantined charges and failed refunds.

One user prepares, another one approves or rejects. The database rejects the same user id twice, whatever role or
session. The prepared decision has a `hash` of its exact content, which `/approve` must repeat: absent is 422, another
one 409 (decision 30). A rejected decision can be prepared again. A repeated approval succeeds without effect; the
other verdict is 409.
"""

from dataclasses import dataclass
from uuid import UUID

from common.primitives.decisions import DecisionContent


@dataclass(frozen=True, slots=True)
class QuarantineDecision(DecisionContent):
    """A maker's decision about a quarantined charge."""

    charge_id: UUID
    reference: str
    amount_minor: int
    currency: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class RefundDecision(DecisionContent):
    """A maker's decision about a failed refund. The account fields are None for a retry to the charge."""

    refund_id: UUID
    amount_minor: int
    currency: str
    action: str
    reason: str
    recipient_code: str | None
    account_last4: str | None
    bank_code: str | None
    account_name: str | None
    name_at_bank: str | None
