"""Request bodies of resets and of four-eyes reconciliations (contract section 8)."""

from typing import Annotated

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ResetPayoutRequest(RequestBody):
    reason: Annotated[Reason, Field(description="Shown to the vendor as `transferFailure`.")]


class PrepareReconciliationRequest(RequestBody):
    reason: Reason


class RejectReconciliationRequest(RequestBody):
    reason: Reason
