"""One-time codes, and password reset and change (contract section 10.2)."""

from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import CREDENTIALS, SIGNED_IN
from common.web.client_address import client_address_of
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from identity.dependencies import Dependencies
from identity.domain.errors import WrongOneTimeCode
from identity.domain.one_time_codes import LIFE, CodeRequest, Destination, Purpose
from identity.responses.codes import PasswordChanged, PasswordReset, SentCode
from identity.responses.sessions import Tokens
from identity.routes.optional_caller import OptionalCaller
from identity.routes.revocations import apply_revocation
from identity.routes.service_callers import AUTHENTICATING
from identity.routes.sign_in_log import recorded_sign_in
from identity.schemas.codes import (
    ChangePasswordRequest,
    ForgotPasswordRequest,
    ResetPasswordRequest,
    SendCodeRequest,
    VerifyCodeRequest,
)
from identity.use_cases.accounts.match_password import match_password
from identity.use_cases.codes.request_code import request_code as send
from identity.use_cases.codes.request_text import request_text
from identity.use_cases.codes.verify_code import ShownCode
from identity.use_cases.codes.verify_code import verify_code as verify
from identity.use_cases.passwords.change_password import PasswordChange
from identity.use_cases.passwords.change_password import change_password as change
from identity.use_cases.passwords.reset_password import reset_password as reset
from identity.use_cases.sessions.open_federated_session import open_federated_session

endpoint = Endpoints("auth")


@endpoint(
    "POST",
    "/api/auth/otp",
    id="auth.requestCode",
    returns=SentCode,
    allow=CREDENTIALS,
    quota=Quota.ACCOUNT,
    passes_token=True,
)
async def request_code(request: Request, caller: OptionalCaller, body: SendCodeRequest) -> Response:
    """Send a code to a mail address or a mobile number. The response is the same without an account.

    A signed-in caller confirms their own number with it. 429 when no further code is sent; the last two stay valid.
    """
    if body.destination.channel == "email":
        return await _mail_requested(request, "sign_in", body.destination.address)
    dependencies = dependencies_of(request, Dependencies)
    if caller.user_id is not None:
        async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
            await open_federated_session(uow, caller, dependencies.staff_issuers)
    code_request = CodeRequest("sign_in", body.destination, client_address_of(request), caller.user_id)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await request_text(
            uow,
            dependencies.encryption.codes,
            dependencies.hashes,
            dependencies.text_policy,
            code_request,
            now=dependencies.clock.now(),
        )
    return _accepted(request, "sign_in")


@endpoint(
    "POST",
    "/api/auth/otp/verify",
    id="auth.verifyCode",
    returns=Tokens,
    allow=CREDENTIALS,
    quota=Quota.ACCOUNT,
    passes_token=True,
)
async def verify_code(request: Request, caller: OptionalCaller, body: VerifyCodeRequest) -> Response:
    """Confirm the address with its code, and sign in.

    The first confirmation ends older sessions and removes credentials that were set before it.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    with recorded_sign_in(request, "code") as attempt:
        matching_hash = await match_password(
            dependencies.database, dependencies.passwords, body.destination, body.password
        )

        verified = await dependencies.database.transact(
            acting_as=AUTHENTICATING,
            work=lambda uow: verify(
                uow,
                dependencies.hashes,
                dependencies.token_issuer,
                ShownCode(body.destination, body.code, client_address_of(request), request.headers.get("user-agent")),
                caller,
                matching_hash=matching_hash,
                now=now,
            ),
        )
        if verified is None:
            raise WrongOneTimeCode
        attempt.succeeded(verified.signed)
    if verified.revoked is not None:
        apply_revocation(dependencies, verified.user_id, verified.revoked.revocation, now)
    return ok(request, verified.signed.response())


@endpoint(
    "POST",
    "/api/auth/password/forgot",
    id="auth.forgotPassword",
    returns=SentCode,
    allow=CREDENTIALS,
    quota=Quota.ACCOUNT,
)
async def forgot_password(request: Request, body: ForgotPasswordRequest) -> Response:
    """Mail a token to reset the password. The response is the same without an account.

    429 when no further mail is sent; the last two tokens stay valid.
    """
    return await _mail_requested(request, "password_reset", body.email)


@endpoint(
    "POST",
    "/api/auth/password/reset",
    id="auth.resetPassword",
    returns=PasswordReset,
    allow=CREDENTIALS,
    quota=Quota.ACCOUNT,
)
async def reset_password(request: Request, body: ResetPasswordRequest) -> Response:
    """Set a new password with the mailed token, and end all sessions."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    user_id, revoked = await reset(
        dependencies.database,
        dependencies.passwords,
        dependencies.hashes,
        body.token,
        body.password,
        source=client_address_of(request),
        now=now,
    )
    apply_revocation(dependencies, user_id, revoked.revocation, now)
    return ok(request, PasswordReset(sessions_ended=revoked.count))


@endpoint(
    "POST",
    "/api/auth/password/change",
    id="auth.changePassword",
    returns=PasswordChanged,
    allow=SIGNED_IN,
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.IGNORED,
)
async def change_password(request: Request, caller: CurrentCaller, body: ChangePasswordRequest) -> Response:
    """Set a new password, and end all other sessions."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    revoked = await change(
        dependencies.password_verifier,
        caller.id,
        caller.session_id,
        PasswordChange(body.current_password, body.new_password),
        now=now,
    )
    apply_revocation(dependencies, caller.id, revoked.revocation, now)
    return ok(request, PasswordChanged(sessions_ended=revoked.count))


async def _mail_requested(request: Request, purpose: Literal["sign_in", "password_reset"], email: str) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await send(
            uow,
            dependencies.encryption.codes,
            dependencies.hashes,
            CodeRequest(purpose, Destination("email", email), client_address_of(request)),
            counted_as=purpose,
            now=dependencies.clock.now(),
        )
    return _accepted(request, purpose)


def _accepted(request: Request, purpose: Purpose) -> Response:
    return ok(request, SentCode(expires_in=int(LIFE[purpose].total_seconds())))
