"""The caller's notification preferences."""

from starlette.requests import Request
from starlette.responses import Response

from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.http import CurrentCaller, dependencies_of, guarded_router, ok, signed_in
from common.web.responses import responses_for
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.schemas import NotificationPreferences, ReplacePreferencesRequest
from notifications.use_cases.feed.change_preferences import change_preferences

router = guarded_router(tags=["notifications"])


@router.get(
    "/api/notification-preferences",
    operation_id="notificationPreferences.get",
    responses=responses_for(NotificationPreferences),
)
@signed_in
async def show_notification_preferences(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's effective preferences."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        preferences = await queries.find_preferences(uow, caller.id)
    shown = queries.preferences_response(preferences)
    return ok(request, shown, headers=etag(shown))


@router.put(
    "/api/notification-preferences",
    operation_id="notificationPreferences.replace",
    responses=responses_for(NotificationPreferences, 409, 422),
)
@signed_in
async def replace_notification_preferences(
    request: Request, caller: CurrentCaller, body: ReplacePreferencesRequest, if_match: IfMatch = None
) -> Response:
    """Replace the caller's preferences. PINs, codes and security notices by mail ignore them."""
    dependencies = dependencies_of(request, Dependencies)
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        preferences = await change_preferences(
            uow,
            caller.id,
            body.to_preferences(),
            dependencies.clock.now(),
            revision=revision,
            keeps_optional_mail=body.optional_mail is None,
        )
    shown = queries.preferences_response(preferences)
    return ok(request, shown, headers=etag(shown))
