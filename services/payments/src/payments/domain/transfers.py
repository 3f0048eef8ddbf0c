"""Transfers as the gateway reports them. Payments forwards those of payouts, which evaluates them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TransferOutcome = Literal["success", "failed", "reversed", "pending"]


@dataclass(frozen=True, slots=True)
class TransferUpdate:
    """The facts of a transfer event or query, amounts in kobo. `status` is the gateway's own word for the `outcome`.

    `reason` is what the bank or the gateway reports, never our own narration. `fee_minor`: the gateway's fee, if
    reported.
    """

    reference: str
    transfer_code: str
    amount_minor: int
    currency: str
    outcome: TransferOutcome
    status: str
    reason: str | None
    account_last4: str | None
    bank_code: str | None
    occurred_at: datetime | None
    fee_minor: int | None = None
