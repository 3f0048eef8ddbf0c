"""Transfers that the gateway lists and the books do not know: what is done with each. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from payouts.domain.gateway_results import Reported, VerifyResult
from payouts.domain.returns import RETRIES_MAX
from payouts.domain.transitions import UNDER_WAY

Outcome = Literal["open", "taken", "explained"]

# The gateway's clock may differ from ours, and a transfer is in its list a moment after it was taken: the stretches overlap by this.
OVERLAP: Final = timedelta(days=1)
# Payouts wait for this one: what the gateway did not answer, or people have explained meanwhile, is looked at again soon.
RECHECK_AFTER_RESTORE: Final = timedelta(minutes=1)
# Half a million transfers of one stretch; a gateway that never ends its list must not hold the comparison for ever.
PAGES_MAX: Final = 5_000
ALERT_KEY: Final = "payouts:found-transfers"
RUNBOOK: Final = "database-restore"

# Refunds to a bank account leave as transfers too. They are payments' own.
_OF_PAYMENTS: Final = re.compile(r"re-[0-9a-f]{32}", re.ASCII)
# What an attempt of ours is called, and what the books can hold.
_OURS: Final = re.compile(r"po-[0-9a-f]{32}", re.ASCII)
_OUT: Final = frozenset({"success", *UNDER_WAY})


@dataclass(frozen=True, slots=True)
class ListedTransfer:
    """A transfer as the gateway lists it; amount in kobo."""

    reference: str
    transfer_code: str
    status: str
    amount_minor: int
    currency: str
    account_number: str
    bank_code: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A payout that waits, of the same vendor and amount: a transfer that nobody knows may be the one that sent it."""

    payout_id: UUID
    retry_count: int
    # Of all its attempts; the present one is among them when it was written down before.
    references: tuple[str, ...]
    has_present_attempt: bool

    @property
    def retry_count_after(self) -> int:
        """An attempt that the books have stays, and the found one is the next."""
        return self.retry_count + int(self.has_present_attempt)


def concerns_payouts(transfer: ListedTransfer) -> bool:
    """Whether its money is out, or on its way, and none of payments' refunds."""
    return transfer.status in _OUT and not _OF_PAYMENTS.fullmatch(transfer.reference)


def may_be_recorded(transfer: ListedTransfer) -> bool:
    """Whether it has the shape of an attempt of ours: only such a one can stand in the books."""
    return bool(_OURS.fullmatch(transfer.reference)) and transfer.currency == "NGN"


def may_have_sent(candidate: Candidate, results: Sequence[VerifyResult]) -> bool:
    """Whether the payout's money cannot have left by an attempt that the books know, so that the found transfer is its own."""
    if candidate.retry_count_after > RETRIES_MAX:
        return False
    return not any(isinstance(result, Reported) and result.update.status in _OUT for result in results)
