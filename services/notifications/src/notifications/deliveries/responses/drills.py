"""Response models of drills (contract section 12)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from contracts.severities import Severity


class Drill(ResponseModel):
    """An exercise of the people on call: a planted fault, and how long its alert took to be seen and mended."""

    id: UUID
    name: str
    runbook: Annotated[str, Meta(description="The runbook of the alert that is exercised.")]
    severity: Severity
    started_by: Annotated[UUID, Meta(description="The member of staff who planted the fault.")]
    started_at: Timestamp
    seen_at: Annotated[Timestamp | None, Meta(description="The time at which the alert was raised; null without.")]
    acknowledged_at: Annotated[Timestamp | None, Meta(description="The time at which a user took it on.")]
    cleared_at: Annotated[Timestamp | None, Meta(description="The time at which the alert was cleared; null: aborted.")]
    ended_at: Annotated[Timestamp | None, Meta(description="The time at which the drill ended; null while it runs.")]
    seconds_to_see: Annotated[int | None, Meta(description="From the fault to its alert.")]
    seconds_to_acknowledge: Annotated[int | None, Meta(description="From the alert to its acknowledgement.")]
    seconds_to_mend: Annotated[int | None, Meta(description="From the alert to its end.")]
    seconds_to_respond: Annotated[int, Meta(description="The time to respond of the severity.")]
    runbook_steps: Annotated[list[int], Meta(description="The numbers of the runbook's steps that were used.")]
