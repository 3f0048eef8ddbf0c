"""Reports of products, reviews, vendors and messages (contract section 11.10)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNED_IN, one_of
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from orders.dependencies import Dependencies
from orders.domain.reports import SubjectKind
from orders.queries.reports import find_report, page_of_reports
from orders.responses.reports import Report
from orders.schemas.reports import CreateReportRequest, DecideReportRequest
from orders.use_cases.reports.decide_report import decide_report as decide
from orders.use_cases.reports.report_subject import report_subject

endpoint = Endpoints("reports")

REPORTS: Final = "/api/reports"


@endpoint(
    "POST",
    REPORTS,
    id="reports.create",
    returns=Report,
    status=201,
    errors=(404,),
    responses={200: {"model": Report, "description": "The open report of the same subject by the same user."}},
    allow=SIGNED_IN,
)
async def create_report(request: Request, caller: CurrentCaller, body: CreateReportRequest) -> Response:
    """Report a product, a review, a vendor or a message of an own conversation to the staff. While the report is open,
    the same again returns it with 200.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        report_id, is_new = await report_subject(
            uow, caller, body.subject.kind, body.subject.id, reason=body.reason, details=body.details, now=now
        )
        report = await find_report(uow, report_id)
    return ok(request, or_not_found(report), status=201 if is_new else 200)


@endpoint("GET", REPORTS, id="reports.list", returns=list[Report], allow=one_of("reports:read", "vendors:suspend"))
async def list_reports(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    kind: Annotated[SubjectKind | None, Query()] = None,
    status: Annotated[Literal["open", "decided"] | None, Query()] = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    awaiting: Annotated[
        Literal["decision"] | None, Query(description="Only those that the caller may decide on.")
    ] = None,
) -> Response:
    """Return all reports, newest first; for campus admins those about vendors of their campus."""
    dependencies = dependencies_of(request, Dependencies)
    filters = {name: value for name, value in (("kind", kind), ("vendorId", vendor_id)) if value is not None}
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_reports(
            uow,
            requested,
            caller,
            filters,
            status,
            awaiting_decision=awaiting is not None,
        )
    return respond_page(request, page)


@endpoint(
    "POST",
    f"{REPORTS}/{{report_id}}/decide",
    id="reports.decide",
    returns=Report,
    allow=one_of("reports:decide", "vendors:suspend"),
)
async def decide_report(
    request: Request, caller: CurrentCaller, report_id: UUID, body: DecideReportRequest
) -> Response:
    """Dismiss the report, hide its subject from all but its owner and staff, or suspend the vendor.

    Any outcome but `dismiss` closes the other open reports of the subject too. A later `dismiss` shows a hidden subject
    again.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        or_not_found(await find_report(uow, report_id))
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now = dependencies.clock.now()
        await decide(uow, caller, report_id, body.outcome, reason=body.reason, now=now)
        report = await find_report(uow, report_id)
    return ok(request, or_not_found(report))
