"""Response models of alerts (contract section 12)."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from contracts.severities import Severity


class Alert(ResponseModel):
    """An alert for the on-call staff."""

    id: UUID
    severity: Severity
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
    closed_by: Annotated[UUID | None, Meta(description="The member of staff who discarded its messages.")]
    close_reason: Annotated[str | None, Meta(description="Why they were discarded.")]
    is_discardable: Annotated[
        bool, Meta(description="Whether it is about messages that were not delivered, which staff may discard.")
    ]
    respond_by: Annotated[Timestamp, Meta(description="The time to respond, counted from the first report.")]
    acknowledged_at: Annotated[Timestamp | None, Meta(description="The time at which a user took it on; null before.")]
    acknowledged_by: Annotated[UUID | None, Meta(description="The user who took it on.")]
    assignee_id: Annotated[UUID | None, Meta(description="The member of staff who works on it.")]
    escalated_at: Annotated[
        Timestamp | None,
        Meta(
            description="The time at which the second user on call was alerted; null where it was acknowledged in time."
        ),
    ]


class AlertAction(ResponseModel):
    """One line of an alert's history."""

    kind: Literal["acknowledged", "assigned", "noted", "escalated"]
    by: Annotated[UUID | None, Meta(description="The member of staff; null for an escalation.")]
    assignee_id: Annotated[UUID | None, Meta(description="The new assignee of an assignment; null removes it.")]
    note: Annotated[str | None, Meta(description="The text of a note.")]
    at: Timestamp


class AlertDetail(Alert):
    actions: Annotated[list[AlertAction], Meta(description="The history, oldest first.")]
