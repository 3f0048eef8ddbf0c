"""Start a session with a password."""

from dataclasses import dataclass, field
from datetime import datetime

from common.auth.caller import ServiceItself
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from identity.credentials.password_verifier import PasswordVerifier
from identity.credentials.tokens import SignedIn, TokenIssuer
from identity.domain.addresses import normal_email
from identity.domain.authorization_profile import SignIn
from identity.domain.errors import ConfirmationRequired, ConfirmationWithoutMail, TooManyMessages, WrongCredentials
from identity.domain.one_time_codes import LOGIN_RESEND_AFTER, CodeRequest, Destination
from identity.store import accounts, login_failures
from identity.use_cases.codes.request_code import request_code
from identity.use_cases.passwords.steps import UnconfirmedSignUp, VerifiedPassword, WrongPassword, verify_password
from identity.use_cases.sessions.steps import start_session

LOGGING_IN = ServiceItself("log-in")
# The hash may be renewed or the password changed between the check and the session, but not twice in a row.
CHECKS_MAX = 2


@dataclass(frozen=True, slots=True)
class LogIn:
    """The credentials of a login, and the client's address and program."""

    email: str
    password: str = field(repr=False)
    user_agent: str | None = None
    source: str = ""


async def log_in(
    verifier: PasswordVerifier,
    token_issuer: TokenIssuer,
    request: LogIn,
    *,
    encryptor: Encryptor,
    now: datetime,
) -> SignedIn:
    """Verify the password and return the tokens of a new session at AAL1.

    Raises WrongCredentials, after the same work for an unknown address as for a wrong password. Raises
    ConfirmationRequired before the address is confirmed and sends a new code, at most once a minute.
    """
    email = normal_email(request.email)
    for _ in range(CHECKS_MAX):
        verified = await verify_password(verifier, email, request.password, now=now)
        if isinstance(verified, WrongPassword):
            raise WrongCredentials(verified.user_id)
        if isinstance(verified, UnconfirmedSignUp):
            await _send_code(verifier, encryptor, email, request.source, now)
            raise ConfirmationRequired
        signed = await _start(verifier, token_issuer, verified, request, now=now)
        if signed is not None:
            return signed
    raise WrongCredentials


async def _send_code(verifier: PasswordVerifier, encryptor: Encryptor, email: str, source: str, now: datetime) -> None:
    """Commit the code before the error is raised. Raises ConfirmationWithoutMail."""
    try:
        async with verifier.database.unit_of_work(acting_as=LOGGING_IN) as uow:
            await request_code(
                uow,
                encryptor,
                verifier.hashes,
                CodeRequest("sign_in", Destination("email", email), source),
                counted_as="sign_in",
                now=now,
                resend_after=LOGIN_RESEND_AFTER,
            )
    except TooManyMessages:
        raise ConfirmationWithoutMail from None


async def _start(
    verifier: PasswordVerifier,
    token_issuer: TokenIssuer,
    verified: VerifiedPassword,
    request: LogIn,
    *,
    now: datetime,
) -> SignedIn | None:
    """Return the tokens; None when the password has changed since the check, so that no session outlives a reset."""
    outdated = verifier.passwords.is_outdated(verified.password_hash)
    renewed = await verifier.passwords.hash(request.password) if outdated else None
    async with verifier.database.unit_of_work(acting_as=LOGGING_IN) as uow:
        if await accounts.lock_password_hash(uow, verified.user_id) != verified.password_hash:
            return None
        if renewed is not None:
            await accounts.save_password_hash(uow, verified.user_id, verified.password_hash, renewed)
        if verified.had_failures:
            await login_failures.clear_failures(uow, verified.failures_key)
        return await start_session(
            uow,
            token_issuer,
            verified.user_id,
            SignIn(new_id(), now, method="password"),
            user_agent=request.user_agent,
            now=now,
        )
