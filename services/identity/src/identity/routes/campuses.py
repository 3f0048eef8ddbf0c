"""Campuses and their hubs, for everybody to read (contract section 10)."""

from typing import TYPE_CHECKING
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, public
from common.problems import NotFound
from identity.queries.places import campus_shown, find_campus, hub_shown, page_of_campuses, page_of_hubs
from identity.routes.pages import page_after, page_meta
from identity.schemas.places import Campus, Hub

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["campuses"])


@router.get("/api/campuses", responses={200: {"model": list[Campus]}})
@public
async def list_campuses_route(
    request: Request, caller: CurrentCaller, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    scope = ("campuses", caller.user_id)
    after = page_after(dependencies.cursors, scope, cursor)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows = await page_of_campuses(uow, after, limit)
    shown = [campus_shown(row) for row in rows[:limit]]
    return ok(request, shown, **page_meta(dependencies.cursors, scope, rows, limit))


@router.get("/api/campuses/{campus_id}", responses={200: {"model": Campus}})
@public
async def read_campus_route(request: Request, caller: CurrentCaller, campus_id: UUID) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        campus = await find_campus(uow, campus_id)
    if campus is None:
        raise NotFound
    return ok(request, campus_shown(campus))


@router.get("/api/campuses/{campus_id}/hubs", responses={200: {"model": list[Hub]}})
@public
async def list_hubs_route(
    request: Request, caller: CurrentCaller, campus_id: UUID, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    scope = ("hubs", campus_id, caller.user_id)
    after = page_after(dependencies.cursors, scope, cursor)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if await find_campus(uow, campus_id) is None:
            raise NotFound
        rows = await page_of_hubs(uow, campus_id, after, limit)
    shown = [hub_shown(row) for row in rows[:limit]]
    return ok(request, shown, **page_meta(dependencies.cursors, scope, rows, limit))
