"""Requests to the payment gateway, and their possible results."""

from dataclasses import dataclass
from uuid import UUID

from payouts.domain.transfer_updates import TransferUpdate


@dataclass(frozen=True, slots=True)
class Recipient:
    """The account of a transfer (as stored, encrypted), its bank, and the name that the gateway resolved."""

    vendor_id: UUID
    stored_account: str
    bank_code: str
    account_name: str


@dataclass(frozen=True, slots=True)
class Reported:
    """The gateway has the transfer and reports its status."""

    update: TransferUpdate


@dataclass(frozen=True, slots=True)
class Refused:
    """A definite rejection: the gateway will never accept this request."""

    reason: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The gateway has no transfer with this reference: it never accepted it."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A timeout, a 5xx or a rate limit: the outcome is unknown until a query."""

    reason: str


SubmitResult = Reported | Refused | Unclear
VerifyResult = Reported | Absent | Unclear
