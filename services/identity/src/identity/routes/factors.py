"""Second factors and the step-up to AAL2 (contract sections 5, 10 and 15.1)."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from common.http import CurrentCaller, dependencies_of, guarded_router, ok, signed_in
from identity.domain.errors import WrongCode
from identity.routes.acting import AUTHENTICATING
from identity.schemas.factors import EnrolledFactor, EnrollRequest, VerifyRequest
from identity.schemas.sessions import (
    Tokens,
)
from identity.use_cases.enroll_factor import enroll_factor
from identity.use_cases.verify_factor import verify_factor

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["auth"])


@router.post("/api/auth/mfa/enroll", responses={200: {"model": EnrolledFactor}})
@signed_in
async def enroll_route(request: Request, caller: CurrentCaller, body: EnrollRequest | None = None) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        enrolled = await enroll_factor(uow, dependencies.codes, caller, now=dependencies.clock.now())
    shown = {"factorId": enrolled.factor_id, "secret": enrolled.secret, "otpauthUri": enrolled.otpauth_uri}
    return ok(request, shown)


@router.post("/api/auth/mfa/verify", responses={200: {"model": Tokens}})
@signed_in
async def verify_route(request: Request, caller: CurrentCaller, body: VerifyRequest) -> Response:
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
