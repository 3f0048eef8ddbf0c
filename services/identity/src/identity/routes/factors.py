"""Second factors and the step-up to AAL2 (contract sections 5 and 10)."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN, STEPPED_UP
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.schemas import EmptyRequest
from identity.dependencies import Dependencies
from identity.domain.errors import WrongCode
from identity.queries.factors import list_own_factors, recovery_codes_left
from identity.responses.factors import EnrolledFactor, Factor, RecoveryCodeCount, RecoveryCodes, RemovedFactor
from identity.responses.sessions import Tokens
from identity.routes.service_callers import AUTHENTICATING
from identity.routes.sign_in_log import recorded_sign_in
from identity.schemas.factors import EnrollFactorRequest, VerifyFactorRequest
from identity.use_cases.factors.enroll_factor import enroll_factor as enroll
from identity.use_cases.factors.remove_factor import remove_factor as remove
from identity.use_cases.factors.renew_recovery_codes import renew_recovery_codes as renew
from identity.use_cases.factors.verify_factor import FactorCode
from identity.use_cases.factors.verify_factor import verify_factor as verify
from identity.use_cases.sessions.open_federated_session import open_federated_session

endpoint = Endpoints("auth")


@endpoint(
    "POST",
    "/api/auth/mfa/enroll",
    id="auth.enrollFactor",
    returns=EnrolledFactor,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def enroll_factor(request: Request, caller: CurrentCaller, body: EnrollFactorRequest | None = None) -> Response:
    """Create a TOTP factor. It counts after its first code, at `POST /api/auth/mfa/verify`."""
    dependencies = dependencies_of(request, Dependencies)
    name = body.name if body else None
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await open_federated_session(uow, caller, dependencies.staff_issuers)
        enrolled = await enroll(uow, dependencies.totp, caller, name, now=dependencies.clock.now())
    shown = EnrolledFactor(factor_id=enrolled.factor_id, secret=enrolled.secret, otpauth_uri=enrolled.otpauth_uri)
    return ok(request, shown)


@endpoint(
    "POST",
    "/api/auth/mfa/verify",
    id="auth.verifyFactor",
    returns=Tokens,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def verify_factor(request: Request, caller: CurrentCaller, body: VerifyFactorRequest) -> Response:
    """Verify a TOTP code or a recovery code, and return tokens with `aal2`."""
    dependencies = dependencies_of(request, Dependencies)
    with recorded_sign_in(request, "factor", caller.id) as attempt:
        async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
            await open_federated_session(uow, caller, dependencies.staff_issuers)
            signed = await verify(
                uow,
                dependencies.totp,
                dependencies.recovery_codes,
                dependencies.token_issuer,
                caller,
                FactorCode(body.code, body.factor_id),
                now=dependencies.clock.now(),
            )
        if signed is None:
            raise WrongCode
        attempt.succeeded(signed)
    return ok(request, signed.response())


@endpoint("GET", "/api/auth/mfa/factors", id="auth.listFactors", returns=list[Factor], allow=SIGNED_IN)
async def list_factors(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's second factors, oldest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        owned = await list_own_factors(uow, caller.id)
    return ok(request, [Factor.from_record(factor) for factor in owned])


@endpoint(
    "DELETE", "/api/auth/mfa/factors/{factor_id}", id="auth.removeFactor", returns=RemovedFactor, allow=STEPPED_UP
)
async def remove_factor(request: Request, caller: CurrentCaller, factor_id: UUID) -> Response:
    """Remove a second factor."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await remove(uow, caller, factor_id, now=dependencies.clock.now())
    return ok(request, RemovedFactor(id=factor_id))


@endpoint(
    "POST",
    "/api/auth/mfa/recovery-codes",
    id="auth.renewRecoveryCodes",
    returns=RecoveryCodes,
    status=201,
    allow=STEPPED_UP,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def renew_recovery_codes(request: Request, caller: CurrentCaller, body: EmptyRequest | None = None) -> Response:
    """Replace all recovery codes. The new ones are shown only here."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        codes = await renew(uow, dependencies.recovery_codes, caller, now=dependencies.clock.now())
    return ok(request, RecoveryCodes(codes=codes), status=201)


@endpoint(
    "GET", "/api/auth/mfa/recovery-codes", id="auth.countRecoveryCodes", returns=RecoveryCodeCount, allow=SIGNED_IN
)
async def count_recovery_codes(request: Request, caller: CurrentCaller) -> Response:
    """Return the number of unused recovery codes."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        left = await recovery_codes_left(uow, caller.id)
    return ok(request, left)
