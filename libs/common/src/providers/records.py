"""Objects of a gateway as typed records. A field that is absent or cannot be read is None."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TransferAccount:
    """The account that the payer of one charge transfers `amount_minor` kobo to, until `expires_at`."""

    bank_name: str
    account_number: str
    account_name: str | None
    amount_minor: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer in a response, a list or a webhook. Amounts in kobo.

    `status` is the gateway's own word. `cause` is what the bank or the gateway reports, never our own narration.
    """

    reference: str | None
    code: str | None
    status: str | None
    amount_minor: int | None
    currency: str | None
    cause: str | None
    fee_minor: int | None
    account_number: str | None
    bank_code: str | None
    created_at: datetime | None
    updated_at: datetime | None
