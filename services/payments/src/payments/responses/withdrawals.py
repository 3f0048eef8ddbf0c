"""Withdrawals from balances, and the four-eyes decisions about the large ones (contract section 7.9)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash
from payments.domain.transitions import WithdrawalStatus
from payments.domain.withdrawals import WithdrawalOutcome
from payments.responses.decisions import Decision


class Withdrawal(ResponseModel):
    """A buyer's own withdrawal."""

    id: UUID
    amount_minor: Annotated[int, Meta(description="Kobo that left the balance for the account.")]
    currency: str
    status: Annotated[
        WithdrawalStatus,
        Meta(description="`failed` and `rejected`: the money is in the balance again."),
    ]
    account_last4: Annotated[str, Meta(description="The last four digits of the account number.")]
    bank_code: Annotated[str, Meta(description="The code of the account's bank.")]
    account_name: Annotated[str, Meta(description="The holder's name that the bank reports.")]
    failure: Annotated[str | None, Meta(description="The reason why no money was paid; null without one.")]
    created_at: Timestamp
    paid_at: Annotated[Timestamp | None, Meta(description="The time at which the bank paid it; null before.")]


class WithdrawalDecision(Decision):
    outcome: WithdrawalOutcome


class StaffWithdrawal(Withdrawal):
    """A withdrawal with its buyer and its newest decision."""

    user_id: Annotated[UUID, Meta(description="The buyer.")]
    reference: Annotated[str, Meta(description="What the payment gateway knows the transfer by.")]
    loss_minor: Annotated[int, Meta(description="Kobo that the platform bears: paid after their return.")]
    hash: Annotated[DecisionHash | None, Meta(description="Of the newest decision; null while none is prepared.")]
    decision: WithdrawalDecision | None
