"""Withdrawals of refunded money from a buyer's balance to a bank account. Amounts in kobo (contract section 7.9)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from common.primitives.decisions import DecisionContent
from payments.domain.balances import Parts
from payments.domain.destinations import Recipient
from payments.domain.refunds import RefundUpdate
from payments.domain.transitions import WithdrawalStatus, WithdrawalTrigger
from providers.gateways import GatewayName

# A transfer is queried again at these times after its first end: a bank may return or send the money, and that webhook
# may be lost.
POLLS_AFTER_END: Final = (timedelta(days=1), timedelta(days=7))

WithdrawalOutcome = Literal["pay", "return"]
# The steps of the decision about a withdrawal that waits for two people.
WithdrawalStep = Literal["approval", "preparation"]


@dataclass(frozen=True, slots=True)
class NewWithdrawal:
    """A withdrawal of `amount_minor` kobo to the account of the recipient, which the bank has confirmed."""

    id: UUID
    user_id: UUID
    amount_minor: int
    status: WithdrawalStatus
    gateway: GatewayName
    recipient: Recipient


@dataclass(frozen=True, slots=True)
class WithdrawalDecision(DecisionContent):
    """A maker's decision about a withdrawal."""

    withdrawal_id: UUID
    amount_minor: int
    recipient_code: str
    outcome: WithdrawalOutcome
    reason: str


def trigger_of_transfer(update: RefundUpdate, *, is_polled: bool) -> WithdrawalTrigger:
    """Return the trigger that the gateway's update of the transfer is."""
    match update.status:
        case "processed":
            return "paid" if is_polled else "reported_paid"
        case "failed":
            return "failed"
        case "reversed":
            return "reversed"
    return "accepted"


def poll_after_end(ended_at: datetime, now: datetime) -> datetime | None:
    """Return when the transfer that ended first at `ended_at` is queried again; None after the last time."""
    return next((ended_at + age for age in POLLS_AFTER_END if ended_at + age > now), None)


def retake(available: Parts, amount_minor: int) -> tuple[Parts, int]:
    """Return what a balance still has of money that was paid out after its return, refunds first, and the loss."""
    refunds_minor = min(amount_minor, available.refunds_minor)
    rewards_minor = min(amount_minor - refunds_minor, available.rewards_minor)
    return Parts(rewards_minor, refunds_minor), amount_minor - refunds_minor - rewards_minor
