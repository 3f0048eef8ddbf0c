"""The caller's own profile, erasure and referral token (contract section 10)."""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.primitives.problems import NotFound
from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from identity.dependencies import Dependencies
from identity.queries.erasure import newest_erasure_of
from identity.queries.profiles import profile_of, referral_of
from identity.responses.profiles import Erasure, Profile, Referral
from identity.schemas.profiles import RequestErasureRequest, UpdateProfileRequest
from identity.use_cases.accounts.change_profile import change_profile
from identity.use_cases.erasure.request_erasure import request_erasure as start

endpoint = Endpoints("profiles")


@endpoint("GET", "/api/profiles/current", id="profiles.getCurrent", returns=Profile, allow=SIGNED_IN)
async def get_profile(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's own profile."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        profile = (await profile_of(uow, caller.id)).response(caller)
    return ok(request, profile, headers=etag(profile.revision))


@endpoint("PATCH", "/api/profiles/current", id="profiles.updateCurrent", returns=Profile, allow=SIGNED_IN)
async def update_profile(
    request: Request,
    caller: CurrentCaller,
    body: UpdateProfileRequest,
    if_match: IfMatch = None,
) -> Response:
    """Change name or phone number. A new number must be confirmed with a code."""
    dependencies = dependencies_of(request, Dependencies)
    changes = body.model_dump(by_alias=True, exclude_unset=True, exclude={"revision"})
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        changed = await change_profile(
            uow, caller, changes, revision, text_policy=dependencies.text_policy, now=dependencies.clock.now()
        )
        profile = changed.response(caller)
    return ok(request, profile, headers=etag(profile.revision))


@endpoint(
    "DELETE",
    "/api/profiles/current",
    id="profiles.requestErasure",
    returns=Erasure,
    status=202,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
)
async def request_erasure(
    request: Request, caller: CurrentCaller, body: RequestErasureRequest | None = None
) -> Response:
    """Request the erasure of one's account. It happens once orders, payments and payouts report no open obligation."""
    dependencies = dependencies_of(request, Dependencies)
    await start(
        dependencies.password_verifier,
        caller,
        body.password if body else None,
        now=dependencies.clock.now(),
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        erasure = await newest_erasure_of(uow, caller.id)
    return ok(request, or_not_found(erasure), status=202)


@endpoint(
    "GET", "/api/profiles/current/erasure", id="profiles.getErasure", returns=Erasure, errors=(404,), allow=SIGNED_IN
)
async def get_erasure(request: Request, caller: CurrentCaller) -> Response:
    """Return the newest erasure request. `openMatters` lists the obligations that caused a rejection."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        erasure = await newest_erasure_of(uow, caller.id)
    if erasure is None:
        raise NotFound
    return ok(request, erasure)


@endpoint("GET", "/api/referrals/current", id="profiles.getReferral", returns=Referral, allow=SIGNED_IN)
async def get_referral(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's referral token, and the number of users who signed up with it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        referral = await referral_of(uow, caller.id)
    return ok(request, referral)
