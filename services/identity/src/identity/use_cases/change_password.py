"""Change one's own password."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from common.caller import ServiceItself
from common.database import Database
from contracts.identity import CredentialsChanged
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.credentials.patience import Patience
from identity.domain.errors import SessionNotHeld, WrongCurrentPassword
from identity.store import accounts, codes, login_failures
from identity.use_cases.end_sessions import Ended, end_sessions
from identity.use_cases.prove_password import Proven, prove_password

CHANGING = ServiceItself("credentials are out of every caller's reach")


@dataclass(frozen=True, slots=True)
class PasswordChange:
    current: str = field(repr=False)
    new: str = field(repr=False)


async def change_password(
    database: Database,
    passwords: Passwords,
    patience: Patience,
    hashes: KeyedHashes,
    user_id: UUID,
    session_id: UUID | None,
    change: PasswordChange,
    *,
    now: datetime,
) -> Ended:
    """A person who is signed in and knows their password sets another; their other sessions end, this one goes on.

    Raises SessionNotHeld for a person or session that is not of this service, and WrongCurrentPassword, which counts and
    slows down like a failed login: a stolen token must not be a way to guess the password.
    """
    async with database.unit_of_work(acting_as=CHANGING) as uow:
        email = await accounts.find_email(uow, user_id)
    if email is None or session_id is None:
        raise SessionNotHeld
    proven = await prove_password(database, passwords, patience, hashes, email, change.current, now=now)
    if not isinstance(proven, Proven):
        raise WrongCurrentPassword
    password_hash = await passwords.hash(change.new)
    async with database.unit_of_work(acting_as=CHANGING) as uow:
        if await accounts.lock_password_hash(uow, user_id) != proven.password_hash:
            raise WrongCurrentPassword
        await accounts.save_password_hash(uow, user_id, proven.password_hash, password_hash)
        await login_failures.forget_failures(uow, proven.failures_key)
        await codes.end_codes(uow, user_id, now)
        uow.publish(CredentialsChanged(user_id=user_id, change="password_changed"))
        return await end_sessions(uow, user_id, because="password_changed", now=now, besides=session_id)
