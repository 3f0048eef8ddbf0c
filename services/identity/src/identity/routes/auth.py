"""Sign-up, login and what keeps a session (contract sections 10 and 15.1)."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from common.caller import ServiceItself
from common.http import CurrentCaller, before_sign_in, dependencies_of, guarded_router, ok, signed_in
from identity import schemas
from identity.domain.errors import SessionNotHeld, WrongCode
from identity.use_cases.enroll_factor import enroll_factor
from identity.use_cases.log_in import log_in
from identity.use_cases.log_out import log_out
from identity.use_cases.refresh_session import refresh_session
from identity.use_cases.sign_up import SignUp, sign_up
from identity.use_cases.verify_factor import verify_factor

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["auth"])
# No caller may read or write the tables of credentials, so their doors act for the service; see the README.
AUTHENTICATING = ServiceItself("authentication")


@router.post("/api/auth/signup", status_code=201, responses={201: {"model": schemas.SignedUp}})
@before_sign_in
async def sign_up_route(request: Request, body: schemas.SignUpRequest) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    wanted = SignUp(body.email, body.password, body.full_name, body.phone, body.referral_token)
    user_id = await sign_up(
        dependencies.database,
        dependencies.passwords,
        wanted,
        institutions=dependencies.institutions,
        reward_minor=dependencies.referral_reward_minor,
        now=dependencies.clock.now(),
    )
    return ok(request, {"userId": user_id}, status=201)


@router.post("/api/auth/login", responses={200: {"model": schemas.Tokens}})
@before_sign_in
async def log_in_route(request: Request, body: schemas.LogInRequest) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    signed = await log_in(
        dependencies.database,
        dependencies.passwords,
        dependencies.signing_keys,
        body.email,
        body.password,
        issuer=dependencies.issuer,
        now=dependencies.clock.now(),
    )
    return ok(request, signed.answer())


@router.post("/api/auth/refresh", responses={200: {"model": schemas.Tokens}})
@before_sign_in
async def refresh_route(request: Request, body: schemas.RefreshRequest) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        signed = await refresh_session(
            uow,
            dependencies.signing_keys,
            body.refresh_token,
            issuer=dependencies.issuer,
            now=dependencies.clock.now(),
        )
    if signed is None:
        raise SessionNotHeld
    return ok(request, signed.answer())


@router.post("/api/auth/logout", responses={200: {"model": schemas.SessionEnd}})
@signed_in
async def log_out_route(request: Request, caller: CurrentCaller, body: schemas.LogOutRequest | None = None) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    if caller.session_id is None:
        raise SessionNotHeld
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await log_out(uow, caller.id, caller.session_id, now=now)
    # This process need not wait for the broker to tell it what it did itself.
    dependencies.revocations.add(caller.id, caller.session_id, now)
    return ok(request, {"sessionId": caller.session_id})


@router.post("/api/auth/mfa/enroll", responses={200: {"model": schemas.EnrolledFactor}})
@signed_in
async def enroll_route(request: Request, caller: CurrentCaller, body: schemas.EnrollRequest | None = None) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        enrolled = await enroll_factor(uow, dependencies.codes, caller, now=dependencies.clock.now())
    shown = {"factorId": enrolled.factor_id, "secret": enrolled.secret, "otpauthUri": enrolled.otpauth_uri}
    return ok(request, shown)


@router.post("/api/auth/mfa/verify", responses={200: {"model": schemas.Tokens}})
@signed_in
async def verify_route(request: Request, caller: CurrentCaller, body: schemas.VerifyRequest) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        signed = await verify_factor(
            uow,
            dependencies.codes,
            dependencies.signing_keys,
            caller,
            body.code,
            body.factor_id,
            issuer=dependencies.issuer,
            now=dependencies.clock.now(),
        )
    if signed is None:
        raise WrongCode
    return ok(request, signed.answer())
