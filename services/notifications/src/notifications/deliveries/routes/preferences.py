"""The caller's notification preferences."""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from notifications.deliveries.queries.preferences import find_preferences, preferences_response
from notifications.deliveries.responses import NotificationPreferences
from notifications.deliveries.schemas import ReplacePreferencesRequest
from notifications.deliveries.use_cases.feed.change_preferences import change_preferences
from notifications.dependencies import Dependencies

endpoint = Endpoints("notifications")


@endpoint(
    "GET",
    "/api/notification-preferences",
    id="notificationPreferences.get",
    returns=NotificationPreferences,
    allow=SIGNED_IN,
)
async def get_notification_preferences(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's effective preferences."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        preferences = await find_preferences(uow, caller.id)
    shown = preferences_response(preferences)
    return ok(request, shown, headers=etag(shown.revision))


@endpoint(
    "PUT",
    "/api/notification-preferences",
    id="notificationPreferences.replace",
    returns=NotificationPreferences,
    allow=SIGNED_IN,
)
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
    shown = preferences_response(preferences)
    return ok(request, shown, headers=etag(shown.revision))
