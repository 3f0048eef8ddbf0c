"""Sign-up, login, refresh and logout (contract section 10.2)."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import CREDENTIALS, SIGNED_IN
from common.primitives.problems import NotFound
from common.web.client_address import client_address_of
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, created_position, cursor_page, respond_page
from common.web.schemas import EmptyRequest
from identity.dependencies import Dependencies
from identity.domain.errors import SessionInvalid
from identity.queries.sessions import page_of_sessions
from identity.responses.sessions import EndedSession, EndedSessions, Session, SignUpResult, Tokens
from identity.routes.revocations import apply_revocation
from identity.routes.service_callers import AUTHENTICATING
from identity.routes.sign_in_log import recorded_sign_in
from identity.schemas.sessions import LogInRequest, RefreshRequest, SignUpRequest
from identity.use_cases.accounts.sign_up import SignUp
from identity.use_cases.accounts.sign_up import sign_up as create
from identity.use_cases.sessions.log_in import LogIn
from identity.use_cases.sessions.log_in import log_in as start
from identity.use_cases.sessions.log_out import log_out as end
from identity.use_cases.sessions.open_federated_session import open_federated_session
from identity.use_cases.sessions.refresh_session import refresh_session
from identity.use_cases.sessions.revoke_sessions import revoke_sessions

endpoint = Endpoints("auth")


@endpoint(
    "POST",
    "/api/auth/signup",
    id="auth.signUp",
    returns=SignUpResult,
    status=201,
    allow=CREDENTIALS,
    quota=Quota.ACCOUNT,
)
async def sign_up(request: Request, body: SignUpRequest) -> Response:
    """Create an account, and mail a code that confirms the address.

    The response is the same for an address that has an account.
    """
    dependencies = dependencies_of(request, Dependencies)
    sign_up_request = SignUp(
        body.email, body.password, body.full_name, body.phone, body.referral_token, client_address_of(request)
    )
    user_id = await create(
        dependencies.database,
        dependencies.passwords,
        sign_up_request,
        encryptor=dependencies.encryption.codes,
        provisioning=dependencies.provisioning,
        text_policy=dependencies.text_policy,
        now=dependencies.clock.now(),
    )
    return ok(request, SignUpResult(user_id=user_id, confirmation_required=True), status=201)


@endpoint("POST", "/api/auth/login", id="auth.login", returns=Tokens, allow=CREDENTIALS, quota=Quota.ACCOUNT)
async def log_in(request: Request, body: LogInRequest) -> Response:
    """Sign in with mail address and password.

    403 with `confirmationRequired` until the address is confirmed; a code is then sent to it.
    """
    dependencies = dependencies_of(request, Dependencies)
    with recorded_sign_in(request, "password") as attempt:
        signed = await start(
            dependencies.password_verifier,
            dependencies.token_issuer,
            LogIn(body.email, body.password, request.headers.get("user-agent"), client_address_of(request)),
            encryptor=dependencies.encryption.codes,
            now=dependencies.clock.now(),
        )
        attempt.succeeded(signed)
    return ok(request, signed.response())


@endpoint("POST", "/api/auth/refresh", id="auth.refresh", returns=Tokens, allow=CREDENTIALS, quota=Quota.SESSION)
async def refresh_tokens(request: Request, body: RefreshRequest) -> Response:
    """Exchange the refresh token for new tokens.

    For 30 s after that the old one returns the same successor; later use ends the session.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        signed = await refresh_session(
            uow,
            dependencies.token_issuer,
            dependencies.hashes,
            body.refresh_token,
            now=dependencies.clock.now(),
        )
    if signed is None:
        raise SessionInvalid
    return ok(request, signed.response())


@endpoint(
    "POST", "/api/auth/logout", id="auth.logout", returns=EndedSession, allow=SIGNED_IN, idempotency=Idempotency.IGNORED
)
async def log_out(request: Request, caller: CurrentCaller, body: EmptyRequest | None = None) -> Response:
    """End the session of the token."""
    dependencies = dependencies_of(request, Dependencies)
    if caller.session_id is None:
        raise SessionInvalid
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await open_federated_session(uow, caller, dependencies.staff_issuers)
        await end(uow, caller.id, caller.session_id, now=now)
    # This process applies the revocation before the broker delivers it.
    dependencies.revocations.add(caller.id, caller.session_id, now)
    return ok(request, EndedSession(session_id=caller.session_id))


@endpoint(
    "POST",
    "/api/auth/logout-all",
    id="auth.logoutAll",
    returns=EndedSessions,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def log_out_everywhere(request: Request, caller: CurrentCaller, body: EmptyRequest | None = None) -> Response:
    """End all sessions of the caller."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await open_federated_session(uow, caller, dependencies.staff_issuers)
        revoked = await revoke_sessions(uow, caller.id, because="logged_out_everywhere", now=now)
    apply_revocation(dependencies, caller.id, revoked.revocation, now)
    return ok(request, EndedSessions(sessions_ended=revoked.count))


@endpoint("GET", "/api/auth/sessions", id="auth.listSessions", returns=list[Session], allow=SIGNED_IN)
async def list_sessions(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the caller's active sessions, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ("sessions", caller.id)
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        sessions = await page_of_sessions(uow, caller.id, after, requested.limit, now=dependencies.clock.now())
    page = cursor_page(
        requested,
        scope,
        sessions,
        position_of=created_position,
        item_of=lambda session: session.response(caller.session_id),
    )
    return respond_page(request, page)


@endpoint("DELETE", "/api/auth/sessions/{session_id}", id="auth.endSession", returns=EndedSession, allow=SIGNED_IN)
async def end_session(request: Request, caller: CurrentCaller, session_id: UUID) -> Response:
    """End one of the caller's sessions."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        if not await end(uow, caller.id, session_id, now=now):
            raise NotFound
    dependencies.revocations.add(caller.id, session_id, now)
    return ok(request, EndedSession(session_id=session_id))
