"""Passkeys (WebAuthn) as a second factor (contract sections 5 and 10)."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from common.http import CurrentCaller, dependencies_of, guarded_router, ok, signed_in
from common.schemas import RequestBody
from identity.routes.acting import AUTHENTICATING
from identity.schemas.factors import (
    ChallengeShape,
    FactorShape,
    OptionsRequest,
    RegisterPasskeyRequest,
    VerifyPasskeyRequest,
)
from identity.schemas.sessions import Tokens
from identity.use_cases.ask_for_assertion import ask_for_assertion
from identity.use_cases.ask_for_passkey import ask_for_passkey
from identity.use_cases.hold_foreign_session import hold_foreign_session
from identity.use_cases.register_passkey import register_passkey
from identity.use_cases.verify_passkey import verify_passkey

if TYPE_CHECKING:
    from identity.app import Dependencies

router = guarded_router(tags=["auth"])


@router.post("/api/auth/mfa/passkeys/options", responses={200: {"model": ChallengeShape}})
@signed_in
async def ask_for_passkey_route(
    request: Request, caller: CurrentCaller, body: OptionsRequest | None = None
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await hold_foreign_session(uow, caller, dependencies.staff_issuers)
        challenge = await ask_for_passkey(uow, dependencies.passkeys, caller, now=dependencies.clock.now())
    return ok(request, challenge.answer())


@router.post("/api/auth/mfa/passkeys", status_code=201, responses={201: {"model": FactorShape}})
@signed_in
async def register_passkey_route(request: Request, caller: CurrentCaller, body: RegisterPasskeyRequest) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await hold_foreign_session(uow, caller, dependencies.staff_issuers)
        factor = await register_passkey(
            uow,
            dependencies.passkeys,
            caller,
            body.challenge_id,
            body.name,
            _as_json(body.credential),
            now=dependencies.clock.now(),
        )
    return ok(request, factor.answer(), status=201)


@router.post("/api/auth/mfa/passkeys/assertion-options", responses={200: {"model": ChallengeShape}})
@signed_in
async def ask_for_assertion_route(
    request: Request, caller: CurrentCaller, body: OptionsRequest | None = None
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await hold_foreign_session(uow, caller, dependencies.staff_issuers)
        challenge = await ask_for_assertion(uow, dependencies.passkeys, caller, now=dependencies.clock.now())
    return ok(request, challenge.answer())


@router.post("/api/auth/mfa/passkeys/verify", responses={200: {"model": Tokens}})
@signed_in
async def verify_passkey_route(request: Request, caller: CurrentCaller, body: VerifyPasskeyRequest) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await hold_foreign_session(uow, caller, dependencies.staff_issuers)
        signed = await verify_passkey(
            uow,
            dependencies.passkeys,
            dependencies.signing_keys,
            caller,
            body.challenge_id,
            _as_json(body.credential),
            issuer=dependencies.issuer,
            now=dependencies.clock.now(),
        )
    return ok(request, signed.answer())


def _as_json(credential: RequestBody) -> dict[str, Any]:
    """The credential as the browser wrote it, for the one who can read it."""
    return credential.model_dump(by_alias=True, exclude_none=True)
