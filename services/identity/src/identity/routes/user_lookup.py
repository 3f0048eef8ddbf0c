"""The lookup of a caller with a token of a further issuer, for other services (contract section 5). The gateway does
not route it.

The token is the only credential: its holder may read the roles of its user.
"""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import ServiceItself
from common.auth.guards import SIGNED_IN
from common.auth.user_lookup import AUTHORIZATION_PROFILE_PATH, PREVIOUS_PROFILE_PATH
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from identity.dependencies import Dependencies
from identity.responses.profiles import AuthorizationProfileResponse
from identity.use_cases.accounts.find_user import find_user

endpoint = Endpoints("internal")
PUBLISHING = ServiceItself("user lookup for another service")


@endpoint("GET", AUTHORIZATION_PROFILE_PATH, returns=AuthorizationProfileResponse, allow=SIGNED_IN)
@endpoint("GET", PREVIOUS_PROFILE_PATH, returns=AuthorizationProfileResponse, allow=SIGNED_IN)
async def user_lookup(request: Request, caller: CurrentCaller) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    # The guard's own lookup may be a minute old, and the calling service caches this one for another minute.
    async with dependencies.database.unit_of_work(acting_as=PUBLISHING) as uow:
        user = await find_user(uow, dependencies.hashes, caller.id, caller.session_id, now=dependencies.clock.now())
    shown = AuthorizationProfileResponse(
        roles=sorted(user.roles),
        vendor_id=user.vendor_id,
        campus_id=user.campus_id,
        hub_id=user.hub_id,
        packing_vendor_id=user.packing_vendor_id,
        email_confirmed=user.email_confirmed,
    )
    return ok(request, shown)
