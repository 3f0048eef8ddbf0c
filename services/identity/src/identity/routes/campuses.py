"""Campuses and hubs: public reads, changes by staff of the campus (contract section 10)."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC, one_of, permission
from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, created_position, cursor_page, respond_page
from identity.dependencies import Dependencies
from identity.domain.campuses import NewHub
from identity.queries.campuses import get_campus as find_campus
from identity.queries.campuses import get_hub as find_hub
from identity.queries.campuses import page_of_campuses, page_of_hubs
from identity.responses.campuses import Campus, Hub
from identity.schemas.campuses import CreateCampusRequest, CreateHubRequest, UpdateCampusRequest, UpdateHubRequest
from identity.use_cases.campuses.change_campus import change_campus
from identity.use_cases.campuses.change_hub import change_hub
from identity.use_cases.campuses.open_campus import open_campus
from identity.use_cases.campuses.open_hub import open_hub

endpoint = Endpoints("campuses")


@endpoint("GET", "/api/campuses", id="campuses.list", returns=list[Campus], allow=PUBLIC, compressed=True)
async def list_campuses(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the active campuses, oldest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ("campuses", caller.user_id)
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        campuses = await page_of_campuses(uow, after, requested.limit)
    page = cursor_page(
        requested,
        scope,
        campuses,
        position_of=created_position,
        item_of=lambda campus: campus.response(),
    )
    return respond_page(request, page)


@endpoint("GET", "/api/campuses/{campus_id}", id="campuses.get", returns=Campus, allow=PUBLIC, compressed=True)
async def get_campus(request: Request, caller: CurrentCaller, campus_id: UUID) -> Response:
    """Return one campus."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        campus = (await find_campus(uow, campus_id)).response()
    return ok(request, campus, headers=etag(campus.revision))


@endpoint("GET", "/api/campuses/{campus_id}/hubs", id="hubs.list", returns=list[Hub], allow=PUBLIC, compressed=True)
async def list_hubs(request: Request, caller: CurrentCaller, campus_id: UUID, requested: RequestedPage) -> Response:
    """Return the active hubs of a campus, oldest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ("hubs", campus_id, caller.user_id)
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await find_campus(uow, campus_id)
        hubs = await page_of_hubs(uow, campus_id, after, requested.limit)
    page = cursor_page(requested, scope, hubs, position_of=created_position, item_of=lambda hub: hub.response())
    return respond_page(request, page)


@endpoint(
    "POST", "/api/campuses", id="campuses.create", returns=Campus, status=201, allow=permission("campuses:manage_all")
)
async def create_campus(request: Request, caller: CurrentCaller, body: CreateCampusRequest) -> Response:
    """Open a campus."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        campus_id = await open_campus(uow, caller, body.name, body.domain, now=dependencies.clock.now())
        campus = (await find_campus(uow, campus_id)).response()
    return ok(request, campus, status=201, headers=etag(campus.revision))


@endpoint(
    "PATCH",
    "/api/campuses/{campus_id}",
    id="campuses.update",
    returns=Campus,
    allow=one_of("campuses:manage", "campuses:manage_all"),
)
async def update_campus(
    request: Request, caller: CurrentCaller, campus_id: UUID, body: UpdateCampusRequest, if_match: IfMatch = None
) -> Response:
    """Change the given fields of a campus. A stale revision is 409."""
    dependencies = dependencies_of(request, Dependencies)
    changes = body.model_dump(by_alias=True, exclude_unset=True, exclude={"revision"})
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await change_campus(uow, caller, campus_id, changes, revision, now=dependencies.clock.now())
        campus = (await find_campus(uow, campus_id)).response()
    return ok(request, campus, headers=etag(campus.revision))


@endpoint(
    "POST",
    "/api/campuses/{campus_id}/hubs",
    id="hubs.create",
    returns=Hub,
    status=201,
    allow=one_of("campuses:manage", "campuses:manage_all"),
)
async def create_hub(request: Request, caller: CurrentCaller, campus_id: UUID, body: CreateHubRequest) -> Response:
    """Open a hub on a campus."""
    dependencies = dependencies_of(request, Dependencies)
    hours = [period.model_dump(by_alias=True) for period in body.opening_hours]
    hub = NewHub(body.name, body.address, body.delivery_fee_minor, hours)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        hub_id = await open_hub(uow, caller, campus_id, hub, now=dependencies.clock.now())
        shown = (await find_hub(uow, hub_id)).response()
    return ok(request, shown, status=201, headers=etag(shown.revision))


@endpoint("GET", "/api/hubs/{hub_id}", id="hubs.get", returns=Hub, allow=PUBLIC, compressed=True)
async def get_hub(request: Request, caller: CurrentCaller, hub_id: UUID) -> Response:
    """Return one hub."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        hub = (await find_hub(uow, hub_id)).response()
    return ok(request, hub, headers=etag(hub.revision))


@endpoint(
    "PATCH", "/api/hubs/{hub_id}", id="hubs.update", returns=Hub, allow=one_of("campuses:manage", "campuses:manage_all")
)
async def update_hub(
    request: Request, caller: CurrentCaller, hub_id: UUID, body: UpdateHubRequest, if_match: IfMatch = None
) -> Response:
    """Change the given fields of a hub. A stale revision is 409."""
    dependencies = dependencies_of(request, Dependencies)
    changes = body.model_dump(by_alias=True, exclude_unset=True, exclude={"revision"})
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await change_hub(uow, caller, hub_id, changes, revision, now=dependencies.clock.now())
        hub = (await find_hub(uow, hub_id)).response()
    return ok(request, hub, headers=etag(hub.revision))
