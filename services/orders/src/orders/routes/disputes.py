"""Disputes, and their resolution by two members of staff (contract section 6)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import SIGNED_IN, one_of, permission
from common.primitives.decisions import StaffDecisionStatus
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from common.web.endpoint_table import Media
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import AwaitingApproval, OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval, EmptyRequest
from common.web.uploads import read_image
from orders.dependencies import Dependencies
from orders.domain.disputes import Complaint, ProposedResolution, evidence_author
from orders.domain.images import evidence_name
from orders.queries.disputes import find_dispute, find_resolution, has_evidence, list_evidence, page_of_resolutions
from orders.responses.disputes import Dispute, DisputeEvidence, DisputeResolution, PreparedResolution
from orders.responses.orders import Order
from orders.routes.order_commands import buyers_destination, order_after, roles_in_order
from orders.routes.order_filters import given_filters
from orders.routes.orders import ONE_ORDER
from orders.schemas.disputes import OpenDisputeRequest, PrepareResolutionRequest
from orders.use_cases.disputes.add_evidence import add_evidence
from orders.use_cases.disputes.approve_resolution import approve_resolution
from orders.use_cases.disputes.check_evidence_upload import check_evidence_upload
from orders.use_cases.disputes.dispute_order import dispute_order
from orders.use_cases.disputes.find_resolved_order import find_resolved_order
from orders.use_cases.disputes.prepare_resolution import prepare_resolution
from orders.use_cases.disputes.reject_resolution import reject_resolution

endpoint = Endpoints("disputes")

RESOLUTIONS: Final = "/api/dispute-resolutions"
ONE_RESOLUTION: Final = f"{RESOLUTIONS}/{{resolution_id}}"
READERS: Final = ("disputes:prepare", "disputes:approve", "orders:read")
_WEBP: Final = "image/webp"


@endpoint("POST", f"{ONE_ORDER}/dispute", id="disputes.open", returns=Order, allow=SIGNED_IN)
async def open_dispute(request: Request, caller: CurrentCaller, order_id: UUID, body: OpenDisputeRequest) -> Response:
    """Freeze the money of a paid, undelivered order until staff decide, as its buyer."""
    dependencies = dependencies_of(request, Dependencies)
    complaint = Complaint("buyer", body.reason, body.details, caller.id, body.refund_to)
    roles = await buyers_destination(request, caller, order_id, body.refund_to)
    now, windows = dependencies.clock.now(), dependencies.windows
    return await order_after(
        request,
        caller,
        order_id,
        lambda uow: dispute_order(uow, order_id, roles, complaint, now=now, windows=windows),
    )


@endpoint("GET", f"{ONE_ORDER}/dispute", id="disputes.get", returns=Dispute, allow=SIGNED_IN)
async def get_dispute(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Return the order's dispute, for its buyer, its vendor and staff."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, or_not_found(await find_dispute(uow, order_id)))


@endpoint(
    "POST",
    f"{ONE_ORDER}/dispute/evidence",
    id="disputes.addEvidence",
    returns=DisputeEvidence,
    status=201,
    allow=SIGNED_IN,
    media=Media.IMAGE,
)
async def add_dispute_evidence(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Add a JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, as buyer or vendor of the disputed order.

    It is stored re-encoded without metadata. Each party adds at most 6 images; a further one is 409.
    """
    dependencies = dependencies_of(request, Dependencies)
    content = await read_image(request)
    author = evidence_author(await roles_in_order(request, caller, order_id))
    image = (await dependencies.image_processor.render(content)).image
    evidence_id = new_id()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await check_evidence_upload(uow, order_id, evidence_id, author, dependencies.clock.now())
    # Stored before a row refers to the file, and outside of any transaction.
    await dependencies.media.put(evidence_name(evidence_id), image)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await add_evidence(uow, order_id, evidence_id, author, len(image), dependencies.clock.now())
        shown = await list_evidence(uow, order_id)
    return ok(request, next(one for one in shown if one.id == evidence_id), status=201)


@endpoint(
    "GET", f"{ONE_ORDER}/dispute/evidence", id="disputes.listEvidence", returns=list[DisputeEvidence], allow=SIGNED_IN
)
async def list_dispute_evidence(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Return the images of the order's dispute, oldest first, for its buyer, its vendor and staff: at most twelve."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, or_not_found(await find_dispute(uow, order_id)).evidence)


@endpoint(
    "GET",
    f"{ONE_ORDER}/dispute/evidence/{{evidence_id}}",
    id="disputes.getEvidence",
    content=_WEBP,
    allow=SIGNED_IN,
)
async def get_dispute_evidence(request: Request, caller: CurrentCaller, order_id: UUID, evidence_id: UUID) -> Response:
    """Return the image, for readers of the dispute; it has no public address."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        is_visible = await has_evidence(uow, order_id, evidence_id)
    content = await dependencies.media.get(evidence_name(evidence_id)) if is_visible else None
    if content is None:
        raise NotFound
    return Response(content, headers={"Cache-Control": "private, no-store"}, media_type=_WEBP)


@endpoint(
    "POST",
    f"{ONE_ORDER}/resolve",
    id="disputes.prepareResolution",
    returns=PreparedResolution,
    status=201,
    allow=permission("disputes:prepare"),
)
async def prepare_dispute_resolution(
    request: Request,
    caller: CurrentCaller,
    order_id: UUID,
    body: PrepareResolutionRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Prepare a resolution, on which another member of staff decides. An order has at most one prepared resolution."""
    dependencies = dependencies_of(request, Dependencies)
    await roles_in_order(request, caller, order_id)
    proposed = ProposedResolution(body.outcome, body.refund_minor, body.reason)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        resolution = await prepare_resolution(
            uow, order_id, proposed, by=caller, now=dependencies.clock.now(), command=command
        )
    shown = PreparedResolution(resolution_id=resolution.id, status="prepared", hash=resolution.hash)
    return ok(request, shown, status=201)


@endpoint("GET", RESOLUTIONS, id="disputeResolutions.list", returns=list[DisputeResolution], allow=one_of(*READERS))
async def list_dispute_resolutions(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    status: Annotated[StaffDecisionStatus | None, Query()] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """List prepared and decided resolutions, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    filters = given_filters(orderId=order_id, status=status, awaiting=awaiting)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_resolutions(uow, page, filters)
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE_RESOLUTION, id="disputeResolutions.get", returns=DisputeResolution, allow=one_of(*READERS))
async def get_dispute_resolution(request: Request, caller: CurrentCaller, resolution_id: UUID) -> Response:
    """Return one resolution with its complaint."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, or_not_found(await find_resolution(uow, resolution_id)))


@endpoint(
    "POST",
    f"{ONE_RESOLUTION}/approve",
    id="disputeResolutions.approve",
    returns=Order,
    allow=permission("disputes:approve", step_up=True),
)
async def approve_dispute_resolution(
    request: Request, caller: CurrentCaller, resolution_id: UUID, body: DecisionApproval
) -> Response:
    """Apply the resolution with this hash: refund and release are published together. Its maker may not approve it."""
    dependencies = dependencies_of(request, Dependencies)
    order_id = await _order_of(request, caller, resolution_id)
    now, windows = dependencies.clock.now(), dependencies.windows
    return await order_after(
        request,
        caller,
        order_id,
        lambda uow: approve_resolution(uow, resolution_id, order_id, body.hash, by=caller, now=now, windows=windows),
    )


@endpoint(
    "POST",
    f"{ONE_RESOLUTION}/reject",
    id="disputeResolutions.reject",
    returns=Order,
    allow=permission("disputes:approve", step_up=True),
)
async def reject_dispute_resolution(
    request: Request, caller: CurrentCaller, resolution_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Reject the resolution: the order stays disputed, and another resolution may be prepared."""
    order_id = await _order_of(request, caller, resolution_id)
    now = dependencies_of(request, Dependencies).clock.now()
    return await order_after(
        request, caller, order_id, lambda uow: reject_resolution(uow, resolution_id, order_id, by=caller, now=now)
    )


async def _order_of(request: Request, caller: Caller, resolution_id: UUID) -> UUID:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return await find_resolved_order(uow, resolution_id)
