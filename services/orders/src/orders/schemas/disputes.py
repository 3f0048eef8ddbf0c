"""Disputes and their resolutions (contract section 6)."""

from typing import Annotated

from pydantic import Field, StringConstraints

from common.web.schemas import Kobo, RequestBody
from orders.domain.disputes import ResolutionOutcome
from orders.schemas.orders import Reason, RefundDestination

Details = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]


class OpenDisputeRequest(RequestBody):
    reason: Reason
    details: Details
    refund_to: RefundDestination = None


class PrepareResolutionRequest(RequestBody):
    outcome: ResolutionOutcome
    refund_minor: Annotated[Kobo | None, Field(description="For a split: 1 kobo up to one below the total.")] = None
    reason: Annotated[
        Reason | None, Field(description="Why staff decide so. Staff read it, neither the buyer nor the vendor.")
    ] = None
