"""Quarantined charges, refunds, and the four-eyes decisions about them (contract section 7)."""

from typing import Annotated, Final

from fastapi import Query
from pydantic import Field, StringConstraints, model_validator

from common.web.schemas import RequestBody
from payments.domain.quarantine import Outcome
from payments.domain.refunds import RefundAction

AWAITED_STEP: Final = Query(
    description="Only those that await this step of a decision; `approval` leaves out what the caller prepared."
)
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class PrepareQuarantineDecisionRequest(RequestBody):
    outcome: Outcome
    reason: Reason


class RejectDecisionRequest(RequestBody):
    reason: Reason


class RefundDestinationRequest(RequestBody):
    account_number: Annotated[str, StringConstraints(pattern=r"^[0-9]{10}$")]
    bank_code: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{3,6}$")]
    account_name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class PrepareRefundDecisionRequest(RequestBody):
    action: RefundAction
    reason: Reason
    destination: Annotated[
        RefundDestinationRequest | None, Field(description="With `other_destination`, and only with it.")
    ] = None

    @model_validator(mode="after")
    def destination_belongs_to_its_action(self) -> "PrepareRefundDecisionRequest":
        if (self.action == "other_destination") != (self.destination is not None):
            raise ValueError("a destination is given with other_destination, and only with it")
        return self
