"""Reports (contract section 11.10)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody
from orders.domain.reports import ReportOutcome, SubjectKind
from orders.schemas.orders import Reason

DETAILS_CHARACTERS_MAX = 2_000


class ReportedSubjectBody(RequestBody):
    kind: Annotated[SubjectKind, Field(description="The kind of the reported thing.")]
    id: UUID


class CreateReportRequest(RequestBody):
    subject: Annotated[ReportedSubjectBody, Field(description="The reported thing.")]
    reason: Reason
    details: Annotated[
        str | None,
        StringConstraints(strip_whitespace=True, max_length=DETAILS_CHARACTERS_MAX),
        Field(description="More about it."),
    ] = None


class DecideReportRequest(RequestBody):
    outcome: Annotated[
        ReportOutcome,
        Field(description="`suspend_vendor` needs the permission `vendors:suspend` on the vendor's campus."),
    ]
    reason: Annotated[Reason | None, Field(description="Shown to the owner of what is hidden or suspended.")] = None
