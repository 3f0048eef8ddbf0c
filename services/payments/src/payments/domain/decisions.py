"""The content of four-eyes decisions about quarantined charges and failed refunds.

One user prepares, another one approves or rejects. The database rejects the same user id twice, whatever role or
session. The prepared decision has a `hash` of its exact content, which `/approve` must repeat: absent is 422, another
one 409 (decision 30). A rejected decision can be prepared again. A repeated approval succeeds without effect; the
other verdict is 409.
"""

from dataclasses import asdict, dataclass
from uuid import UUID

from common.primitives.decisions import DecisionStatus, PreparedDecision, content_hash


@dataclass(frozen=True, slots=True)
class QuarantineDecision:
    """A maker's decision about a quarantined charge: the exact content that the checker approves."""

    id: UUID
    charge_id: UUID
    reference: str
    amount_minor: int
    currency: str
    outcome: str
    reason: str
    prepared_by: UUID

    @property
    def hash(self) -> str:
        return content_hash(asdict(self))

    def prepared(self, status: DecisionStatus) -> PreparedDecision:
        return PreparedDecision(status, self.prepared_by, self.hash)


@dataclass(frozen=True, slots=True)
class RefundDecision:
    """A maker's decision about a failed refund. The account fields are None for a retry to the charge."""

    id: UUID
    refund_id: UUID
    amount_minor: int
    currency: str
    action: str
    reason: str
    prepared_by: UUID
    recipient_code: str | None
    account_last4: str | None
    bank_code: str | None
    account_name: str | None
    name_at_bank: str | None

    @property
    def hash(self) -> str:
        return content_hash(asdict(self))

    def prepared(self, status: DecisionStatus) -> PreparedDecision:
        return PreparedDecision(status, self.prepared_by, self.hash)
