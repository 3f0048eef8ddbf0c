"""Change one's own password."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from common.auth.caller import ServiceItself
from contracts.identity import CredentialsChanged
from identity.credentials.password_verifier import PasswordVerifier
from identity.domain.errors import SessionInvalid, WrongCurrentPassword
from identity.store import accounts, codes, login_failures
from identity.use_cases.passwords.steps import VerifiedPassword, verify_password
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions

CHANGING_PASSWORD = ServiceItself("password change")


@dataclass(frozen=True, slots=True)
class PasswordChange:
    current: str = field(repr=False)
    new: str = field(repr=False)


async def change_password(
    verifier: PasswordVerifier,
    user_id: UUID,
    session_id: UUID | None,
    change: PasswordChange,
    *,
    now: datetime,
) -> RevokedSessions:
    """Replace the password and end all other sessions.

    Raises SessionInvalid for a user or session of a further issuer, and WrongCurrentPassword. A wrong password counts
    and delays like a failed login, so that a stolen token cannot be used to guess it.
    """
    async with verifier.database.unit_of_work(acting_as=CHANGING_PASSWORD) as uow:
        email = await accounts.find_email(uow, user_id)
    if email is None or session_id is None:
        raise SessionInvalid
    verified = await verify_password(verifier, email, change.current, now=now)
    if not isinstance(verified, VerifiedPassword):
        raise WrongCurrentPassword
    password_hash = await verifier.passwords.hash(change.new)
    async with verifier.database.unit_of_work(acting_as=CHANGING_PASSWORD) as uow:
        if await accounts.lock_password_hash(uow, user_id) != verified.password_hash:
            raise WrongCurrentPassword
        await accounts.save_password_hash(uow, user_id, verified.password_hash, password_hash)
        await login_failures.clear_failures(uow, verified.failures_key)
        await codes.expire_codes(uow, user_id, now)
        uow.publish(CredentialsChanged(user_id=user_id, change="password_changed"))
        return await revoke_sessions(uow, user_id, because="password_changed", now=now, besides=session_id)
