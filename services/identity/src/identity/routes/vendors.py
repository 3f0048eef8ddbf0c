"""Vendors: active ones are public, owners and staff read and change more (contract section 10)."""

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import PUBLIC, one_of, permission
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, created_position, cursor_page, respond_page
from identity.dependencies import Dependencies
from identity.domain.errors import AnotherCampus
from identity.domain.vendors import PLATFORM_FIELDS, SHOP_FIELDS, check_may_change_vendor, check_may_suspend_vendor
from identity.queries.commission_changes import find_commission_change
from identity.queries.vendors import (
    PublicVendor,
    VendorFilter,
    VendorInFull,
    find_vendor,
    find_vendor_in_full,
    page_of_vendors,
    page_of_vendors_in_full,
)
from identity.responses.vendors import Vendor
from identity.routes.service_callers import DECIDING
from identity.schemas.vendors import ReinstateVendorRequest, SuspendVendorRequest, UpdateVendorRequest
from identity.use_cases.vendors.change_vendor import change_vendor
from identity.use_cases.vendors.prepare_commission_change import prepare_commission_change
from identity.use_cases.vendors.reinstate_vendor import reinstate_vendor as reinstate
from identity.use_cases.vendors.suspend_vendor import suspend_vendor as suspend

endpoint = Endpoints("vendors")
IDS_MAX = 100
"""A page of any list names so many vendors."""


@endpoint("GET", "/api/vendors", id="vendors.list", returns=list[Vendor], allow=PUBLIC, compressed=True)
async def list_vendors(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    campus_id: Annotated[UUID | None, Query(alias="campusId")] = None,
    status: Literal["active", "suspended"] | None = None,
    ids: Annotated[
        list[UUID] | None, Query(alias="id", max_length=IDS_MAX, description="Repeated: the vendors with these ids.")
    ] = None,
) -> Response:
    """List active vendors. With `status`, list in full those that the caller owns or is staff of."""
    dependencies = dependencies_of(request, Dependencies)
    chosen = VendorFilter(campus_id, ids)
    scope = ("vendors", campus_id, status, caller.user_id, *map(str, ids or ()))
    after, now = requested.time_position(scope), dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        vendors: Sequence[PublicVendor]
        if status is None:
            vendors = await page_of_vendors(uow, chosen, after, requested.limit)
        else:
            vendors = await page_of_vendors_in_full(uow, chosen, status, after, requested.limit)
    page = cursor_page(
        requested,
        scope,
        vendors,
        position_of=created_position,
        item_of=lambda vendor: vendor.response(now),
    )
    return respond_page(request, page)


@endpoint("GET", "/api/vendors/{vendor_id}", id="vendors.get", returns=Vendor, allow=PUBLIC, compressed=True)
async def get_vendor(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    """Return one vendor. The owner and staff see more fields than the public."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        vendor = await find_vendor_in_full(uow, vendor_id) or await find_vendor(uow, vendor_id)
    if vendor is None:
        raise NotFound
    headers = etag(vendor.revision) if isinstance(vendor, VendorInFull) else None
    return ok(request, vendor.response(dependencies.clock.now()), headers=headers)


@endpoint(
    "PATCH",
    "/api/vendors/{vendor_id}",
    id="vendors.update",
    returns=Vendor,
    allow=one_of("catalog:own", "vendors:commission", step_up_with="vendors:commission"),
)
async def update_vendor(
    request: Request, caller: CurrentCaller, vendor_id: UUID, body: UpdateVendorRequest, if_match: IfMatch = None
) -> Response:
    """Change businessName, category, description, away or openingHours as the owner, or commissionBasisPoints as the
    platform.

    `away` and `openingHours` need no step-up. The commission changes only when a second platform_admin approves
    `commissionChange`.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    changes = body.model_dump(by_alias=True, exclude_unset=True, exclude={"revision"})
    if not SHOP_FIELDS.issuperset(changes):
        caller.must_have_stepped_up(now)
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        vendor = await _find_manageable_vendor(uow, vendor_id)
        check_may_change_vendor(caller, changes, owner_user_id=vendor.owner_user_id)
    if PLATFORM_FIELDS.isdisjoint(changes):
        async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
            await change_vendor(uow, vendor_id, changes, revision, now=now)
        return await _respond(request, caller, vendor_id)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        points = body.commission_basis_points
        change_id = await prepare_commission_change(uow, caller, vendor_id, points, revision, now=now)
    return await _respond(request, caller, vendor_id, change_id)


@endpoint(
    "POST",
    "/api/vendors/{vendor_id}/suspend",
    id="vendors.suspend",
    returns=Vendor,
    allow=permission("vendors:suspend"),
)
async def suspend_vendor(
    request: Request, caller: CurrentCaller, vendor_id: UUID, body: SuspendVendorRequest
) -> Response:
    """Suspend a vendor: checkouts are rejected and payouts are held; open orders continue."""
    dependencies = dependencies_of(request, Dependencies)
    await _check_may_suspend(dependencies, caller, vendor_id)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        await suspend(uow, vendor_id, body.reason, by=caller.id, now=dependencies.clock.now())
    return await _respond(request, caller, vendor_id)


@endpoint(
    "POST",
    "/api/vendors/{vendor_id}/reinstate",
    id="vendors.reinstate",
    returns=Vendor,
    allow=permission("vendors:suspend"),
)
async def reinstate_vendor(
    request: Request, caller: CurrentCaller, vendor_id: UUID, body: ReinstateVendorRequest | None = None
) -> Response:
    """End the suspension of a vendor."""
    dependencies = dependencies_of(request, Dependencies)
    await _check_may_suspend(dependencies, caller, vendor_id)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        reason = body.reason if body else None
        await reinstate(uow, vendor_id, reason, by=caller.id, now=dependencies.clock.now())
    return await _respond(request, caller, vendor_id)


async def _check_may_suspend(dependencies: Dependencies, caller: Caller, vendor_id: UUID) -> None:
    """Owner and campus of a vendor never change, so the check holds after this transaction."""
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        vendor = await _find_manageable_vendor(uow, vendor_id)
        check_may_suspend_vendor(caller, owner_user_id=vendor.owner_user_id, campus_id=vendor.campus_id)


async def _find_manageable_vendor(uow: UnitOfWork, vendor_id: UUID) -> VendorInFull:
    """Return the vendor in full. Raises NotFound, and AnotherCampus for one that the caller may only read."""
    vendor = await find_vendor_in_full(uow, vendor_id)
    if vendor is not None:
        return vendor
    if await find_vendor(uow, vendor_id) is None:
        raise NotFound
    raise AnotherCampus("This vendor is not yours to change.")


async def _respond(request: Request, caller: Caller, vendor_id: UUID, change_id: UUID | None = None) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        vendor = await _find_manageable_vendor(uow, vendor_id)
        shown = vendor.response(dependencies.clock.now())
        if change_id is not None:
            change = await find_commission_change(uow, change_id, now=dependencies.clock.now())
            shown = replace(shown, commission_change=change)
    return ok(request, shown, headers=etag(vendor.revision))
