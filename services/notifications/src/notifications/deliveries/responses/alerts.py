"""Response models of alerts (contract section 12)."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class Alert(ResponseModel):
    """An alert for the on-call staff."""

    id: UUID
    severity: Literal["SEV-1", "SEV-2", "SEV-3"]
    title: str
    detail: str
    subject: str | None
    runbook: Annotated[str, Meta(description="The path of the runbook.")]
    source: str
    repetitions: Annotated[int, Meta(description="How often it was raised.")]
    raised_at: Timestamp
    last_raised_at: Annotated[Timestamp, Meta(description="The time at which it was last raised.")]
    paged_at: Annotated[
        Timestamp | None, Meta(description="The time at which the people on call were alerted; null before.")
    ]
    closed_at: Timestamp | None
