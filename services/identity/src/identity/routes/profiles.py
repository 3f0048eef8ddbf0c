"""One's own profile and referral token (contract section 10)."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from common.answers import answers
from common.clock import iso
from common.http import CurrentCaller, dependencies_of, guarded_router, ok, signed_in
from common.revisions import IfMatch, etag, revision_meant
from identity.queries.people import profile_of, referral_of
from identity.routes.revoking import believe_no_more
from identity.schemas.people import Erasure, ErasureRequest, Profile, ProfileChangeRequest, Referral
from identity.use_cases.change_profile import change_profile
from identity.use_cases.erase_person import erase_person

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["profiles"])


@router.get("/api/profiles/current", responses={200: {"model": Profile}})
@signed_in
async def read_profile_route(request: Request, caller: CurrentCaller) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        profile = await profile_of(uow, caller.id)
    return ok(request, profile, headers=etag(profile))


@router.patch("/api/profiles/current", responses={200: {"model": Profile}})
@signed_in
async def change_profile_route(
    request: Request,
    caller: CurrentCaller,
    body: ProfileChangeRequest,
    if_match: IfMatch = None,
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    changes = body.model_dump(by_alias=True, exclude_unset=True, exclude={"revision"})
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        profile = await change_profile(uow, caller, changes, revision, now=dependencies.clock.now())
    return ok(request, profile, headers=etag(profile))


@router.delete("/api/profiles/current", responses=answers(Erasure, 403, 409, 422))
@signed_in
async def erase_person_route(request: Request, caller: CurrentCaller, body: ErasureRequest | None = None) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    now = dependencies.clock.now()
    ended = await erase_person(
        dependencies.database,
        dependencies.passwords,
        dependencies.patience,
        dependencies.hashes,
        caller,
        body.password if body else None,
        now=now,
    )
    believe_no_more(dependencies, caller.id, ended.revocation, now)
    return ok(request, {"userId": caller.id, "erasedAt": iso(now)})


@router.get("/api/referrals/current", responses={200: {"model": Referral}})
@signed_in
async def read_referral_route(request: Request, caller: CurrentCaller) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        referral = await referral_of(uow, caller.id)
    return ok(request, referral)
