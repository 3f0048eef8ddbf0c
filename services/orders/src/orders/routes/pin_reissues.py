"""Reissues of delivery PINs beyond the buyer's limit, by two members of staff (contract section 6)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import one_of, permission
from common.primitives.decisions import ExpiringStatus
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import AwaitingApproval, OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval
from orders.dependencies import Dependencies
from orders.queries.pin_reissues import find_pin_reissue, page_of_pin_reissues
from orders.responses.pin_reissues import PinReissue
from orders.routes.order_commands import roles_in_order
from orders.routes.order_filters import given_filters
from orders.schemas.pin_reissues import PreparePinReissueRequest, RejectPinReissueRequest
from orders.use_cases.delivery.approve_pin_reissue import approve_pin_reissue as approve
from orders.use_cases.delivery.prepare_pin_reissue import prepare_pin_reissue as prepare
from orders.use_cases.delivery.reject_pin_reissue import reject_pin_reissue as reject

endpoint = Endpoints("delivery")

REISSUES: Final = "/api/pin-reissues"
ONE_REISSUE: Final = f"{REISSUES}/{{reissue_id}}"
READERS: Final = ("pin_reissues:prepare", "pin_reissues:approve", "orders:read")


@endpoint("GET", REISSUES, id="pinReissues.list", returns=list[PinReissue], allow=one_of(*READERS))
async def list_pin_reissues(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    status: Annotated[ExpiringStatus | None, Query()] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """List prepared and decided reissues, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    filters = given_filters(orderId=order_id, status=status, awaiting=awaiting)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_pin_reissues(uow, page, filters, now=dependencies.clock.now())
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE_REISSUE, id="pinReissues.get", returns=PinReissue, allow=one_of(*READERS))
async def get_pin_reissue(request: Request, caller: CurrentCaller, reissue_id: UUID) -> Response:
    """Return one reissue."""
    return await _respond(request, caller, reissue_id)


@endpoint(
    "POST",
    REISSUES,
    id="pinReissues.prepare",
    returns=PinReissue,
    status=201,
    errors=(404,),
    allow=permission("pin_reissues:prepare", step_up=True),
)
async def prepare_pin_reissue(
    request: Request, caller: CurrentCaller, body: PreparePinReissueRequest, command: OptionalIdempotentCommand
) -> Response:
    """Prepare a new PIN for an undelivered order whose PIN is locked or was reissued three times. Another person
    decides within a day.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    await roles_in_order(request, caller, body.order_id)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        reissue_id = await prepare(uow, body.order_id, body.reason, by=caller, now=now, command=command)
    return await _respond(request, caller, reissue_id, status=201)


@endpoint(
    "POST",
    f"{ONE_REISSUE}/approve",
    id="pinReissues.approve",
    returns=PinReissue,
    allow=permission("pin_reissues:approve", step_up=True),
)
async def approve_pin_reissue(
    request: Request, caller: CurrentCaller, reissue_id: UUID, body: DecisionApproval
) -> Response:
    """Send a new PIN to the buyer; the old one becomes invalid. Neither its maker nor a party of the order approves
    it.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await approve(uow, dependencies.pins, reissue_id, body.hash, by=caller, now=now)
    return await _respond(request, caller, reissue_id)


@endpoint(
    "POST",
    f"{ONE_REISSUE}/reject",
    id="pinReissues.reject",
    returns=PinReissue,
    allow=permission("pin_reissues:approve", step_up=True),
)
async def reject_pin_reissue(
    request: Request, caller: CurrentCaller, reissue_id: UUID, body: RejectPinReissueRequest
) -> Response:
    """Reject the reissue; the PIN stays."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject(uow, reissue_id, body.reason, by=caller, now=now)
    return await _respond(request, caller, reissue_id)


async def _respond(request: Request, caller: Caller, reissue_id: UUID, *, status: int = 200) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        shown = await find_pin_reissue(uow, reissue_id, now=dependencies.clock.now())
    return ok(request, or_not_found(shown), status=status)
