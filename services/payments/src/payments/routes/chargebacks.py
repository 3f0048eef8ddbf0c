"""Chargebacks, and responses of finance to them."""

import base64
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.domain.chargeback_responses import DisputeEvidence, RequestedResolution
from payments.queries.chargebacks import find_chargeback, page_of_chargebacks
from payments.responses.chargebacks import Chargeback, ChargebackDetail
from payments.schemas.chargebacks import ResolveChargebackRequest, SubmitChargebackEvidenceRequest
from payments.use_cases.chargebacks.add_evidence import add_evidence
from payments.use_cases.chargebacks.resolve_chargeback import resolve_chargeback as resolve

Status = Literal["opened", "won", "lost"]

ONE_CHARGEBACK: Final = "/api/chargebacks/{chargeback_id}"

endpoint = Endpoints("chargebacks")


@endpoint("GET", "/api/chargebacks", id="chargebacks.list", returns=list[Chargeback], allow=permission("ledger:read"))
async def list_chargebacks(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount", "due_at"))],
    status: Status | None = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    awaiting: Annotated[
        Literal["answer"] | None, Query(description="Only open ones without a resolution of finance.")
    ] = None,
) -> Response:
    """List chargebacks that payers' banks opened, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_chargebacks(uow, page, status, order_id, awaiting_response=awaiting is not None)
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE_CHARGEBACK, id="chargebacks.get", returns=ChargebackDetail, allow=permission("ledger:read"))
async def get_chargeback(request: Request, caller: CurrentCaller, chargeback_id: UUID) -> Response:
    """Return one chargeback with the responses to it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        chargeback = await find_chargeback(uow, chargeback_id)
    return ok(request, chargeback)


@endpoint(
    "POST",
    f"{ONE_CHARGEBACK}/evidence",
    id="chargebacks.submitEvidence",
    returns=ChargebackDetail,
    allow=permission("chargebacks:respond", step_up=True),
)
async def submit_chargeback_evidence(
    request: Request, caller: CurrentCaller, chargeback_id: UUID, body: SubmitChargebackEvidenceRequest
) -> Response:
    """Send evidence about the buyer and the delivery to the gateway, within seconds; `responses` show its status."""
    dependencies = dependencies_of(request, Dependencies)
    evidence = DisputeEvidence(**body.model_dump(mode="json"))
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await add_evidence(uow, chargeback_id, evidence, caller.id, dependencies.clock.now())
        chargeback = await find_chargeback(uow, chargeback_id)
    return ok(request, chargeback)


@endpoint(
    "POST",
    f"{ONE_CHARGEBACK}/resolve",
    id="chargebacks.resolve",
    returns=ChargebackDetail,
    allow=permission("chargebacks:respond", step_up=True),
)
async def resolve_chargeback(
    request: Request, caller: CurrentCaller, chargeback_id: UUID, body: ResolveChargebackRequest
) -> Response:
    """Accept or contest the claim, once. The gateway's decision arrives later, and only it moves money."""
    attachment = base64.b64decode(body.attachment)
    requested = RequestedResolution(body.resolution, body.message, body.amount_minor, attachment)
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await resolve(uow, chargeback_id, requested, caller.id, dependencies.clock.now())
        chargeback = await find_chargeback(uow, chargeback_id)
    return ok(request, chargeback)
