"""Vendors as everybody may see them (contract section 10)."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, public
from common.problems import NotFound
from identity.queries.vendors import find_vendor, page_of_vendors, vendor_shown
from identity.routes.pages import page_after, page_meta
from identity.schemas.vendors import Vendor

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["vendors"])


@router.get("/api/vendors", responses={200: {"model": list[Vendor]}})
@public
async def list_vendors_route(
    request: Request,
    caller: CurrentCaller,
    campus_id: Annotated[UUID | None, Query(alias="campusId")] = None,
    limit: Limit = LIMIT_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    scope = ("vendors", campus_id, caller.user_id)
    after = page_after(dependencies.cursors, scope, cursor)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows = await page_of_vendors(uow, campus_id, after, limit)
    shown = [vendor_shown(row) for row in rows[:limit]]
    return ok(request, shown, **page_meta(dependencies.cursors, scope, rows, limit))


@router.get("/api/vendors/{vendor_id}", responses={200: {"model": Vendor}})
@public
async def read_vendor_route(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        vendor = await find_vendor(uow, vendor_id)
    if vendor is None:
        raise NotFound
    return ok(request, vendor_shown(vendor))
