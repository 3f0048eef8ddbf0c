"""Responses of reports."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.reports import ReportOutcome, SubjectKind


class ReportedSubject(ResponseModel):
    kind: Annotated[SubjectKind, Meta(description="The kind of the reported thing.")]
    id: UUID


class Report(ResponseModel):
    id: UUID
    subject: Annotated[ReportedSubject, Meta(description="The reported thing.")]
    subject_text: Annotated[
        str | None, Meta(description="The name of the product or vendor, or the beginning of the review or message.")
    ]
    conversation_id: Annotated[UUID | None, Meta(description="The conversation of a reported message; else null.")]
    vendor_id: UUID
    vendor_name: str | None
    reason: str
    details: Annotated[str | None, Meta(description="More about it, in the reporter's words.")]
    reporter_id: Annotated[UUID, Meta(description="The user who reported it.")]
    outcome: Annotated[ReportOutcome | None, Meta(description="The decision; null while the report is open.")]
    decided_by: UUID | None
    decided_at: Timestamp | None
    created_at: Timestamp
