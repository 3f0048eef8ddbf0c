"""Saved views of the own account (contract section 10.1)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from identity.dependencies import Dependencies
from identity.domain.saved_views import ViewContent
from identity.queries.saved_views import list_views
from identity.responses.saved_views import SavedView
from identity.routes.service_callers import AUTHENTICATING
from identity.schemas.saved_views import PATH, PATH_CHARACTERS_MAX, RenameViewRequest, SaveViewRequest
from identity.use_cases.saved_views.delete_view import delete_view as delete
from identity.use_cases.saved_views.rename_view import rename_view as rename
from identity.use_cases.saved_views.save_view import save_view as save

endpoint = Endpoints("profiles")

VIEWS: Final = "/api/saved-views"
ONE: Final = f"{VIEWS}/{{view_id}}"


@endpoint("GET", VIEWS, id="savedViews.list", returns=list[SavedView], allow=SIGNED_IN)
async def list_saved_views(
    request: Request,
    caller: CurrentCaller,
    path: Annotated[
        str | None,
        Query(pattern=PATH, max_length=PATH_CHARACTERS_MAX, description="The views of this list of the console only."),
    ] = None,
) -> Response:
    """Return the own saved views, at most 30, by list and name."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await list_views(uow, caller.id, path))


@endpoint("POST", VIEWS, id="savedViews.save", returns=SavedView, status=201, errors=(409,), allow=SIGNED_IN)
async def save_view(request: Request, caller: CurrentCaller, body: SaveViewRequest) -> Response:
    """Save a list of the console with its filters under a name. A name is taken once for each list."""
    dependencies = dependencies_of(request, Dependencies)
    view, now = ViewContent(body.path, body.name, body.query), dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        view_id = await save(uow, caller, view, now=now)
        [saved] = await list_views(uow, caller.id, view_id=view_id)
    return ok(request, saved, status=201)


@endpoint("PATCH", ONE, id="savedViews.rename", returns=SavedView, errors=(409,), allow=SIGNED_IN)
async def rename_view(request: Request, caller: CurrentCaller, view_id: UUID, body: RenameViewRequest) -> Response:
    """Rename a view of the own account."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await rename(uow, caller, view_id, body.name)
        found = await list_views(uow, caller.id, view_id=view_id)
    return ok(request, or_not_found(found[0] if found else None))


@endpoint("DELETE", ONE, id="savedViews.delete", status=204, allow=SIGNED_IN)
async def delete_view(request: Request, caller: CurrentCaller, view_id: UUID) -> Response:
    """Delete a view of the own account."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await delete(uow, caller, view_id)
    return Response(status_code=204)
