"""Unrecorded transfers: the gateway lists them, the ledger has none. Pure decisions about each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from payouts.domain.gateway_results import Reported, VerifyResult
from payouts.domain.returns import RETRIES_MAX
from payouts.domain.transitions import REPORTS, UNDER_WAY
from providers.gateways import GatewayName

Outcome = Literal["open", "taken", "explained"]

# The gateway's clock may differ, and its list may lag: two comparisons overlap by this.
OVERLAP: Final = timedelta(days=1)
# After a restore payouts wait for the comparison: an incomplete one is repeated soon.
RECHECK_AFTER_RESTORE: Final = timedelta(minutes=1)
# Half a million transfers. An endless list of the gateway must not block the comparison.
PAGES_MAX: Final = 5_000
ALERT_KEY: Final = "payouts:found-transfers"
RUNBOOK: Final = "database-restore"

# Refunds and withdrawals to a bank account are transfers too. They belong to payments.
_OF_PAYMENTS: Final = re.compile(r"(?:re|wd)-[0-9a-f]{32}", re.ASCII)
# The form of our own references, the only ones that a transfer row can have.
_OURS: Final = re.compile(r"po-[0-9a-f]{32}", re.ASCII)
_OUT: Final = frozenset({"success", *UNDER_WAY})


@dataclass(frozen=True, slots=True)
class ListedTransfer:
    """A transfer as the gateway lists it; amount in kobo. A field that could not be read is empty, and an amount 0."""

    reference: str
    transfer_code: str
    status: str
    amount_minor: int
    currency: str
    account_number: str
    bank_code: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TransferPage:
    """One page of the gateway's list of transfers."""

    transfers: Sequence[ListedTransfer]
    is_last: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pending payout of the same vendor and amount, which an unrecorded transfer may have paid."""

    payout_id: UUID
    retry_count: int
    # Reference and gateway of all its attempts, the present one included.
    attempts: tuple[tuple[str, GatewayName], ...]
    has_present_attempt: bool

    @property
    def retry_count_after(self) -> int:
        """A recorded present attempt stays; the found transfer is the next one."""
        return self.retry_count + int(self.has_present_attempt)


def concerns_payouts(transfer: ListedTransfer) -> bool:
    """Return whether its money has left, is under way, or may have left, and it is no refund of payments."""
    may_be_out = transfer.status in _OUT or transfer.status not in REPORTS
    return may_be_out and not _OF_PAYMENTS.fullmatch(transfer.reference)


def may_be_recorded(transfer: ListedTransfer) -> bool:
    """Return whether it has the form of our attempts, with an amount and an account: only those can be recorded."""
    is_ours = bool(_OURS.fullmatch(transfer.reference)) and transfer.currency == "NGN"
    return is_ours and transfer.amount_minor > 0 and bool(transfer.account_number and transfer.bank_code)


def may_have_sent(candidate: Candidate, results: Sequence[VerifyResult]) -> bool:
    """Return whether no recorded attempt can have paid the payout, so that the found transfer is its own."""
    if candidate.retry_count_after > RETRIES_MAX:
        return False
    return not any(isinstance(result, Reported) and result.update.status in _OUT for result in results)
