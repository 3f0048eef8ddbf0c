"""Withdrawals from balances (contract section 7.9)."""

from typing import Annotated

from pydantic import StringConstraints

from common.web.schemas import PositiveKobo, RequestBody
from payments.domain.withdrawals import WithdrawalOutcome
from payments.schemas.decisions import Reason


class RequestWithdrawalRequest(RequestBody):
    """`POST /api/balance/withdrawals`. Rewards cannot be withdrawn."""

    amount_minor: PositiveKobo
    account_number: Annotated[str, StringConstraints(pattern=r"^[0-9]{10}$")]
    bank_code: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{3,6}$")]


class PrepareWithdrawalDecisionRequest(RequestBody):
    outcome: WithdrawalOutcome
    reason: Reason
