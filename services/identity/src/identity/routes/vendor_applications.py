"""Applications to become a vendor (contract sections 10 and 1.5)."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import SIGNED_IN, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import EmptyRequest
from identity.dependencies import Dependencies
from identity.domain.vendor_applications import ApplicationStatus, NewApplication, check_may_decide_application
from identity.queries.vendor_applications import find_applicant, get_application, page_of_applications
from identity.responses.vendors import Applicant, VendorApplication
from identity.routes.service_callers import DECIDING
from identity.schemas.vendors import CreateVendorApplicationRequest, RejectApplicationRequest
from identity.use_cases.vendors.apply_as_vendor import apply_as_vendor
from identity.use_cases.vendors.approve_vendor_application import approve_vendor_application as approve
from identity.use_cases.vendors.reject_vendor_application import reject_vendor_application as reject

endpoint = Endpoints("vendor-applications")


@endpoint(
    "POST",
    "/api/vendor-applications",
    id="vendorApplications.create",
    returns=VendorApplication,
    status=201,
    allow=SIGNED_IN,
)
async def create_vendor_application(
    request: Request, caller: CurrentCaller, body: CreateVendorApplicationRequest
) -> Response:
    """Apply to sell on a campus. It needs a confirmed mail address; one application may be pending."""
    dependencies = dependencies_of(request, Dependencies)
    details = NewApplication(body.business_name, body.legal_name, body.campus_id, body.category, body.description)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        application_id = await apply_as_vendor(uow, caller, details, now=dependencies.clock.now())
    return await _respond(request, caller, application_id, status=201)


@endpoint(
    "GET", "/api/vendor-applications", id="vendorApplications.list", returns=list[VendorApplication], allow=SIGNED_IN
)
async def list_vendor_applications(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: ApplicationStatus | None = None,
    campus_id: Annotated[UUID | None, Query(alias="campusId")] = None,
    awaiting: Annotated[
        Literal["decision"] | None, Query(description="Only pending ones of the caller's campus, without their own.")
    ] = None,
) -> Response:
    """List one's own applications. Staff see those of their campus, auditors all."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        applications, total = await page_of_applications(
            uow, status, campus_id, awaiting_decision=awaiting is not None, page=page
        )
    return respond_offset_page(
        request, page, ([application.response(caller.id) for application in applications], total)
    )


@endpoint(
    "GET",
    "/api/vendor-applications/{application_id}",
    id="vendorApplications.get",
    returns=VendorApplication,
    allow=SIGNED_IN,
)
async def get_vendor_application(request: Request, caller: CurrentCaller, application_id: UUID) -> Response:
    """Return one application, for its applicant and the staff of the campus."""
    return await _respond(request, caller, application_id)


@endpoint(
    "POST",
    "/api/vendor-applications/{application_id}/approve",
    id="vendorApplications.approve",
    returns=VendorApplication,
    allow=permission("vendor_applications:decide"),
)
async def approve_vendor_application(
    request: Request, caller: CurrentCaller, application_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Create the vendor. The applicant becomes a merchant with the next token."""
    dependencies = dependencies_of(request, Dependencies)
    await _check_may_decide(dependencies, caller, application_id)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        await approve(uow, application_id, by=caller.id, now=dependencies.clock.now())
    return await _respond(request, caller, application_id)


@endpoint(
    "POST",
    "/api/vendor-applications/{application_id}/reject",
    id="vendorApplications.reject",
    returns=VendorApplication,
    allow=permission("vendor_applications:decide"),
)
async def reject_vendor_application(
    request: Request, caller: CurrentCaller, application_id: UUID, body: RejectApplicationRequest
) -> Response:
    """Reject the application with a reason for the applicant."""
    dependencies = dependencies_of(request, Dependencies)
    await _check_may_decide(dependencies, caller, application_id)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        await reject(uow, application_id, body.reason, by=caller.id, now=dependencies.clock.now())
    return await _respond(request, caller, application_id)


async def _check_may_decide(dependencies: Dependencies, caller: Caller, application_id: UUID) -> None:
    """Applicant and campus of an application never change, so the check holds after this transaction."""
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        application = await get_application(uow, application_id)
    check_may_decide_application(caller, applicant_id=application.user_id, campus_id=application.campus_id)


async def _respond(request: Request, caller: Caller, application_id: UUID, *, status: int = 200) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        application = await get_application(uow, application_id)
    applicant: Applicant | UnsetType | None = UNSET
    if application.user_id != caller.id:
        async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
            applicant = await find_applicant(uow, application.user_id)
    return ok(request, application.response(caller.id, applicant), status=status)
