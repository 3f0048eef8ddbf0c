"""Endpoints of payouts: requested by merchants, dispatched by staff."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal
from uuid import UUID

import msgspec
from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import one_of, permission
from common.primitives.public_numbers import NumberKind, described_search
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok, or_not_found
from common.web.idempotency import IdempotencyKey, OptionalIdempotencyKey
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval, EmptyRequest, QueryInstant
from payouts import responses, schemas
from payouts.dependencies import Dependencies
from payouts.domain.payout_transitions import PayoutStatus
from payouts.queries import payouts
from payouts.queries.arrivals import add_arrivals
from payouts.queries.batches import describe_batch_with_payees, page_of_batches
from payouts.queries.payouts import PayoutFilter
from payouts.routes.permissions import vendor_of
from payouts.use_cases.dispatch_approvals.approve_dispatch import approve_dispatch as approve
from payouts.use_cases.dispatch_approvals.prepare_dispatch import prepare_dispatch as prepare
from payouts.use_cases.dispatch_approvals.reject_dispatch import reject_dispatch as reject
from payouts.use_cases.payouts.cancel_payout import cancel_payout as cancel
from payouts.use_cases.payouts.hold_payout import hold_payout as hold
from payouts.use_cases.payouts.release_payout import release_payout as release
from payouts.use_cases.payouts.request_payout import request_payout
from payouts.use_cases.transfers.dispatch_payouts import Alone, Approval, DispatchOrder
from payouts.use_cases.transfers.dispatch_payouts import dispatch_payouts as dispatch

endpoint = Endpoints("payouts")

# A dispatch calls the payment gateway for every payout of its batch. All other operations are far shorter.
DISPATCH_SECONDS_MAX: Final = 100.0


@endpoint(
    "POST",
    "/api/payouts",
    id="payouts.create",
    returns=responses.Payout,
    status=201,
    allow=permission("wallet:own"),
    quota=Quota.SENSITIVE,
)
async def create_payout(
    request: Request, caller: CurrentCaller, body: schemas.CreatePayoutRequest, key: OptionalIdempotencyKey
) -> Response:
    """Move the amount from the wallet into transit. 423 when part of it is still in escrow, 422 above both."""
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)
    payout_id = await request_payout(
        dependencies.database,
        caller,
        vendor_id,
        body.amount_minor,
        dependencies.clock.now(),
        minimum_minor=dependencies.payout_minimum_minor,
        key=key,
    )
    return await respond_payout(request, caller, payout_id, status=201)


async def payee_filter(
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    vendor_name: Annotated[
        QueryText | None,
        Query(alias="vendorName", min_length=1, max_length=100, description="A part of the vendor's legal name."),
    ] = None,
    owner_id: Annotated[
        UUID | None, Query(alias="ownerId", description="Payouts of the vendor that this user owns.")
    ] = None,
) -> PayoutFilter:
    """Return the filters by vendor."""
    return PayoutFilter(vendor_id=vendor_id, vendor_name=vendor_name, owner_id=owner_id)


async def payout_filter(
    payee: Annotated[PayoutFilter, Depends(payee_filter)],
    status: PayoutStatus | None = None,
    start: Annotated[QueryInstant | None, Query(alias="from", description="Requested at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Requested before this.")] = None,
    reference: Annotated[
        QueryText | None, Query(max_length=100, description="The reference of a transfer, or its code at the gateway.")
    ] = None,
    batch_id: Annotated[UUID | None, Query(alias="batchId", description="Payouts that this batch sent.")] = None,
) -> PayoutFilter:
    """Return the filters of the list of payouts."""
    dated = replace(payee, status=status, created_from=start, created_before=end)
    return replace(dated, reference=reference, batch_id=batch_id)


@endpoint(
    "GET",
    "/api/payouts",
    id="payouts.list",
    returns=list[responses.Payout],
    allow=one_of("wallet:own", "payouts:read").for_keys("shop_money:read", "payouts:read"),
)
async def list_payouts(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    chosen: Annotated[PayoutFilter, Depends(payout_filter)],
    number: Annotated[
        QueryText | None,
        Query(max_length=100, description=described_search(NumberKind.PAYOUT) + "."),
    ] = None,
    awaiting: Annotated[
        Literal["dispatch"] | None, Query(description="Only those that a dispatch would send now, at most 1,000.")
    ] = None,
) -> Response:
    """List the merchant's own payouts; finance and auditors see all."""
    dependencies = dependencies_of(request, Dependencies)
    only = None
    if awaiting is not None:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            only = await payouts.list_ready(uow, dependencies.clock.now())
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if number is not None:
            named = await payouts.list_named(uow, number)
            only = named if only is None else [payout_id for payout_id in named if payout_id in only]
        rows, total = await payouts.page_of_payouts(uow, page, replace(chosen, only=only))
    return respond_offset_page(request, page, (await _with_arrivals(dependencies, rows), total))


@endpoint(
    "GET",
    "/api/payouts/{payout_id}",
    id="payouts.get",
    returns=responses.Payout,
    allow=one_of("wallet:own", "payouts:read").for_keys("shop_money:read", "payouts:read"),
)
async def get_payout(request: Request, caller: CurrentCaller, payout_id: UUID) -> Response:
    """Return one payout with its latest transfer and open exception."""
    return await respond_payout(request, caller, payout_id)


@endpoint(
    "POST",
    "/api/payouts/{payout_id}/cancel",
    id="payouts.cancel",
    returns=responses.Payout,
    allow=permission("wallet:own"),
)
async def cancel_payout(
    request: Request,
    caller: CurrentCaller,
    payout_id: UUID,
    body: EmptyRequest | None = None,
) -> Response:
    """Return the amount of a payout that was never sent to the wallet. 409 for one that was sent or is not pending."""
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)
    # Acts as the service: a merchant's role cannot change a payout.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await cancel(uow, payout_id, vendor_id, caller.id, dependencies.clock.now())
    return await respond_payout(request, caller, payout_id)


@endpoint(
    "POST",
    "/api/payouts/{payout_id}/hold",
    id="payouts.hold",
    returns=responses.Payout,
    allow=permission("payouts:hold", step_up=True),
)
async def hold_payout(
    request: Request, caller: CurrentCaller, payout_id: UUID, body: schemas.HoldPayoutRequest
) -> Response:
    """Hold one pending payout: dispatch skips it until its release, and the vendor is notified."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await hold(uow, payout_id, body.reason, caller.id, dependencies.clock.now())
    return await respond_payout(request, caller, payout_id)


@endpoint(
    "POST",
    "/api/payouts/{payout_id}/release",
    id="payouts.release",
    returns=responses.Payout,
    allow=permission("payouts:hold", step_up=True),
)
async def release_payout(
    request: Request, caller: CurrentCaller, payout_id: UUID, body: schemas.HoldPayoutRequest
) -> Response:
    """End the hold of a payout. 409 when it is not held."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await release(uow, payout_id, body.reason, caller.id, dependencies.clock.now())
    return await respond_payout(request, caller, payout_id)


async def respond_payout(request: Request, caller: Caller, payout_id: UUID, *, status: int = 200) -> Response:
    """Return a payout as the caller may read it, with its arrival. Raises NotFound."""
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    payout = or_not_found(await payouts.find_payout(reads, payout_id))
    [shown] = await _with_arrivals(dependencies, [payout])
    return ok(request, shown, status=status)


async def _with_arrivals(dependencies: Dependencies, found: Sequence[responses.Payout]) -> list[responses.Payout]:
    # Acts as the service: a vendor may not read all that decides on a dispatch.
    reads = dependencies.database.reads_for(THE_SERVICE)
    return await add_arrivals(reads, found, dependencies.arrival_terms, dependencies.clock.now())


@endpoint(
    "POST",
    "/api/payouts/dispatch",
    id="payouts.dispatch",
    returns=responses.PayoutDispatch,
    allow=permission("payouts:dispatch", step_up=True),
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.REQUIRED,
    seconds_max=DISPATCH_SECONDS_MAX,
)
async def dispatch_payouts(
    request: Request, caller: CurrentCaller, body: schemas.DispatchPayoutsRequest, key: IdempotencyKey
) -> Response:
    """Send waiting payouts to the gateway, each once. A dry run returns the plan alone. 409 for a run above
    `DISPATCH_TWO_PERSON_MINOR`: it names its preview, which a second person approves.
    """
    dependencies = dependencies_of(request, Dependencies)
    alone = Alone(dependencies.settings.dispatch_two_person_minor)
    order = DispatchOrder(body.payout_ids, body.max_total_minor, body.dry_run, alone)
    response = await dispatch(dependencies.database, dependencies.gateways, dependencies.clock, caller, key, order)
    return ok(request, msgspec.convert(response, responses.PayoutDispatch))


@endpoint(
    "GET",
    "/api/payout-batches",
    id="payoutBatches.list",
    returns=list[responses.PayoutBatch],
    allow=permission("payouts:read"),
)
async def list_batches(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    awaiting: Annotated[
        Literal["approval"] | None, Query(description="Only prepared previews that the caller may approve.")
    ] = None,
) -> Response:
    """List the dispatches that were sent, with the counts of their transfers as they are now."""
    # Acts as the service: row policies show a batch to its dispatcher only.
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await page_of_batches(uow, page, None if awaiting is None else caller.id)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    "/api/payout-batches/{batch_id}",
    id="payoutBatches.get",
    returns=responses.PayoutBatchDetail,
    allow=permission("payouts:read"),
)
async def get_batch(request: Request, caller: CurrentCaller, batch_id: UUID) -> Response:
    """Return a dispatch with its transfers as they are now, each with its payee: the progress of a batch."""
    return await _respond_batch(request, batch_id)


@endpoint(
    "POST",
    "/api/payout-batches/{batch_id}/prepare",
    id="payoutBatches.prepare",
    returns=responses.PayoutBatchDetail,
    allow=permission("payouts:dispatch", step_up=True),
)
async def prepare_batch(request: Request, caller: CurrentCaller, batch_id: UUID, body: DecisionApproval) -> Response:
    """Prepare a preview, as its hash names it, for the approval of a second person. 409 when its list changed."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now, fees = dependencies.clock.now(), dependencies.gateway.fees
        await prepare(uow, batch_id, body.hash, caller.id, now, fees)
    return await _respond_batch(request, batch_id)


@endpoint(
    "POST",
    "/api/payout-batches/{batch_id}/approve",
    id="payoutBatches.approve",
    returns=responses.PayoutDispatch,
    allow=permission("payouts:approve", step_up=True),
    quota=Quota.SENSITIVE,
    seconds_max=DISPATCH_SECONDS_MAX,
)
async def approve_batch(request: Request, caller: CurrentCaller, batch_id: UUID, body: DecisionApproval) -> Response:
    """Send exactly the list of a prepared preview, once. Its maker is refused, under any role. 409 when the list
    changed since: nothing is sent, and `batchId` names the preview of the present list.
    """
    dependencies = dependencies_of(request, Dependencies)
    response = await approve(
        dependencies.database, dependencies.gateways, dependencies.clock, caller, Approval(batch_id, body.hash)
    )
    return ok(request, msgspec.convert(response, responses.PayoutDispatch))


@endpoint(
    "POST",
    "/api/payout-batches/{batch_id}/reject",
    id="payoutBatches.reject",
    returns=responses.PayoutBatchDetail,
    allow=permission("payouts:approve", step_up=True),
)
async def reject_batch(
    request: Request, caller: CurrentCaller, batch_id: UUID, body: schemas.RejectDispatchRequest
) -> Response:
    """Reject a prepared preview: nothing is sent."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject(uow, batch_id, body.reason, caller.id, dependencies.clock.now())
    return await _respond_batch(request, batch_id)


async def _respond_batch(request: Request, batch_id: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        alone_max_minor = dependencies.settings.dispatch_two_person_minor
        batch = await describe_batch_with_payees(uow, batch_id, dependencies.gateway.fees, alone_max_minor)
    return ok(request, batch)
