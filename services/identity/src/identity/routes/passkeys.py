"""Passkeys (WebAuthn) as a second factor (contract sections 5 and 10)."""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.primitives.clock import iso
from common.primitives.json_records import JsonObject
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.schemas import EmptyRequest, RequestBody
from identity.dependencies import Dependencies
from identity.domain.second_factors import Challenge
from identity.responses.factors import Factor, PasskeyChallenge
from identity.responses.sessions import Tokens
from identity.routes.service_callers import AUTHENTICATING
from identity.routes.sign_in_log import recorded_sign_in
from identity.schemas.factors import RegisterPasskeyRequest, VerifyPasskeyRequest
from identity.use_cases.factors.register_passkey import register_passkey as register
from identity.use_cases.factors.start_passkey_assertion import start_passkey_assertion as start_assertion
from identity.use_cases.factors.start_passkey_registration import start_passkey_registration as start
from identity.use_cases.factors.verify_passkey import verify_passkey as verify
from identity.use_cases.sessions.open_federated_session import open_federated_session

endpoint = Endpoints("auth")


@endpoint(
    "POST",
    "/api/auth/mfa/passkeys/options",
    id="auth.startPasskeyRegistration",
    returns=PasskeyChallenge,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def start_passkey_registration(
    request: Request, caller: CurrentCaller, body: EmptyRequest | None = None
) -> Response:
    """Return a challenge to create a passkey."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await open_federated_session(uow, caller, dependencies.staff_issuers)
        challenge = await start(uow, dependencies.passkeys, caller, now=dependencies.clock.now())
    return ok(request, _challenge_response(challenge))


@endpoint(
    "POST",
    "/api/auth/mfa/passkeys",
    id="auth.registerPasskey",
    returns=Factor,
    status=201,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def register_passkey(request: Request, caller: CurrentCaller, body: RegisterPasskeyRequest) -> Response:
    """Store the passkey that the browser created for a challenge."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await open_federated_session(uow, caller, dependencies.staff_issuers)
        factor = await register(
            uow,
            dependencies.passkeys,
            caller,
            body.challenge_id,
            body.name,
            _as_json(body.credential),
            now=dependencies.clock.now(),
        )
    return ok(request, Factor.from_record(factor), status=201)


@endpoint(
    "POST",
    "/api/auth/mfa/passkeys/assertion-options",
    id="auth.startPasskeyAssertion",
    returns=PasskeyChallenge,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def start_passkey_assertion(
    request: Request, caller: CurrentCaller, body: EmptyRequest | None = None
) -> Response:
    """Return a challenge to present one of the caller's passkeys."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await open_federated_session(uow, caller, dependencies.staff_issuers)
        challenge = await start_assertion(uow, dependencies.passkeys, caller, now=dependencies.clock.now())
    return ok(request, _challenge_response(challenge))


@endpoint(
    "POST",
    "/api/auth/mfa/passkeys/verify",
    id="auth.verifyPasskey",
    returns=Tokens,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def verify_passkey(request: Request, caller: CurrentCaller, body: VerifyPasskeyRequest) -> Response:
    """Verify the passkey's response to a challenge, and return tokens with `aal2`."""
    dependencies = dependencies_of(request, Dependencies)
    with recorded_sign_in(request, "passkey", caller.id) as attempt:
        async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
            await open_federated_session(uow, caller, dependencies.staff_issuers)
            signed = await verify(
                uow,
                dependencies.passkeys,
                dependencies.token_issuer,
                caller,
                body.challenge_id,
                _as_json(body.credential),
                now=dependencies.clock.now(),
            )
        attempt.succeeded(signed)
    return ok(request, signed.response())


def _challenge_response(challenge: Challenge) -> PasskeyChallenge:
    return PasskeyChallenge(
        challenge_id=challenge.id, expires_at=iso(challenge.expires_at), public_key=challenge.public_key
    )


def _as_json(credential: RequestBody) -> JsonObject:
    """Return the credential as the browser sent it."""
    return credential.model_dump(by_alias=True, exclude_none=True)
