"""Set a new password with the token of a mail."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from contracts.identity import CredentialsChanged
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.domain.errors import WrongResetToken
from identity.domain.one_time_codes import is_redeemable
from identity.store import accounts, codes, login_failures, profiles
from identity.use_cases.accounts.steps import confirm_email
from identity.use_cases.codes.steps import free_mail_budgets
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions

RESETTING_PASSWORD = ServiceItself("password reset")


async def reset_password(
    database: Database,
    passwords: Passwords,
    hashes: KeyedHashes,
    token: str,
    password: str,
    *,
    source: str,
    now: datetime,
) -> tuple[UUID, RevokedSessions]:
    """Set a new password with a token, once. End all sessions and expire every other code. Return the user's id.

    The token confirms the address; the first confirmation removes earlier credentials. No transaction is open while the
    password is hashed. Raises WrongResetToken.
    """
    token_hash = hashes.of("password_reset", "", token)
    async with database.unit_of_work(acting_as=RESETTING_PASSWORD) as uow:
        issued = await codes.find_reset(uow, token_hash)
    if issued is None or issued.user_id is None or not is_redeemable(issued, now):
        raise WrongResetToken
    password_hash = await passwords.hash(password)
    user_id = issued.user_id

    return user_id, await database.transact(
        acting_as=RESETTING_PASSWORD,
        work=lambda uow: _reset(uow, hashes, user_id, token_hash, password_hash, source, now),
    )


async def _reset(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    user_id: UUID,
    token_hash: bytes,
    password_hash: str,
    source: str,
    now: datetime,
) -> RevokedSessions:
    # Lock order: profile, account, code. Of two resets with one token the second finds it used.
    await profiles.lock_profile(uow, user_id)
    await accounts.lock_password_hash(uow, user_id)
    email = await accounts.find_email(uow, user_id)
    issued = await codes.lock_reset(uow, token_hash)
    if email is None or issued is None or not is_redeemable(issued, now):
        raise WrongResetToken
    await codes.mark_used(uow, issued.id, now)
    await codes.expire_codes(uow, user_id, now)
    revoked = await revoke_sessions(uow, user_id, because="password_reset", now=now)
    await confirm_email(uow, hashes, user_id, email, matching_hash=None, now=now)
    await accounts.set_password_hash(uow, user_id, password_hash)
    await login_failures.clear_failures(uow, hashes.of("login", email))
    await free_mail_budgets(uow, hashes, "password_reset", email, source)
    uow.publish(CredentialsChanged(user_id=user_id, change="password_reset"))
    return revoked
