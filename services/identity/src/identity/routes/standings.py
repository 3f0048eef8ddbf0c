"""What a service asks about a caller with a token of a further issuer (contract section 5). The gateway does not route it.

The token itself is the proof: whoever has it may learn what holds for its user, and needs no other secret.
"""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from common.caller import ServiceItself
from common.http import CurrentCaller, dependencies_of, guarded_router, ok, signed_in
from common.standings import STANDING_PATH
from identity.schemas.people import StandingShown
from identity.use_cases.find_person import find_person

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["internal"])
TELLING = ServiceItself("a service asks about its caller")


@router.get(STANDING_PATH, responses={200: {"model": StandingShown}})
@signed_in
async def standing_route(request: Request, caller: CurrentCaller) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    # Looked up anew, though the guard did: that look may be a minute old, and the asker keeps this one for a minute more.
    async with dependencies.database.unit_of_work(acting_as=TELLING) as uow:
        person = await find_person(uow, dependencies.hashes, caller.id, caller.session_id, now=dependencies.clock.now())
    shown = {
        "roles": sorted(person.roles),
        "vendorId": person.vendor_id,
        "campusId": person.campus_id,
        "emailConfirmed": person.email_confirmed,
    }
    return ok(request, shown)
