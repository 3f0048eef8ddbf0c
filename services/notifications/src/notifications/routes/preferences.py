"""How the caller wants to be told."""

from starlette.requests import Request
from starlette.responses import Response

from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.http import CurrentCaller, dependencies_of, guarded_router, ok, signed_in
from common.web.responses import answers
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.schemas import PreferencesRequest, PreferencesShape
from notifications.use_cases.feed.change_preferences import change_preferences

router = guarded_router(tags=["notifications"])


@router.get("/api/notification-preferences", responses=answers(PreferencesShape))
@signed_in
async def show_preferences(request: Request, caller: CurrentCaller) -> Response:
    """What is in force for the caller."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        preferences = await queries.find_preferences(uow, caller.id)
    shown = queries.preferences_shape(preferences)
    return ok(request, shown, headers=etag(shown))


@router.put("/api/notification-preferences", responses=answers(PreferencesShape, 409, 422))
@signed_in
async def put_preferences(
    request: Request, caller: CurrentCaller, body: PreferencesRequest, if_match: IfMatch = None
) -> Response:
    """Replaces the caller's preferences. PINs, codes and news of the bank account by mail go out all the same."""
    dependencies = dependencies_of(request, Dependencies)
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        preferences = await change_preferences(
            uow, caller.id, body.wanted(), dependencies.clock.now(), revision=revision
        )
    return ok(request, preferences, headers=etag(preferences))
