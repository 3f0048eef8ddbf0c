"""Payments by bank transfer to an account of one charge (contract section 7.1)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

# The channel whose payer transfers to an account.
BANK_TRANSFER: Final = "bank_transfer"


@dataclass(frozen=True, slots=True)
class TransferAccount:
    """The account that the payer of one charge transfers `amount_minor` kobo to, until `expires_at`."""

    bank_name: str
    account_number: str
    account_name: str | None
    amount_minor: int
    expires_at: datetime
