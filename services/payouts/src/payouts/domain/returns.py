"""When a payout's amount may go back to the wallet: once, and only while nobody may still send it (contract section 8)."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from payouts.domain.errors import MoneyReturnedAlready, PayoutNotPending, TransferUnderWay

# Attempts with which no money leaves any more. `reserved` was never sent, and is withdrawn with the return.
_AT_AN_END: Final = frozenset({"reserved", "failed", "rejected", "blocked", "abandoned", "reversed"})


@dataclass(frozen=True, slots=True)
class PayoutInHand:
    """A payout under lock with the states of its attempts, oldest first; `returned` is how its money came back, if it did."""

    id: UUID
    vendor_id: UUID
    amount_minor: int
    status: str
    retry_count: int
    reference: str | None
    attempts: tuple[str, ...]
    returned: str | None


def judge_restitution(payout: PayoutInHand) -> bool:
    """Whether the restitution takes effect now; False for its repetition.

    Raises PayoutNotPending, MoneyReturnedAlready and TransferUnderWay (409).
    """
    if payout.status == "failed" and payout.returned == "restitution":
        return False
    if payout.returned is not None:
        raise MoneyReturnedAlready(payout.returned)
    if payout.status != "pending":
        raise PayoutNotPending(payout.status)
    judge_at_rest(payout)
    return True


def judge_at_rest(payout: PayoutInHand) -> None:
    """Raises TransferUnderWay (409) when an attempt is with the gateway, or may be."""
    for status in payout.attempts:
        if status not in _AT_AN_END:
            raise TransferUnderWay(status)
