"""Set a new password with a token that was sent."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from contracts.identity import CredentialsChanged
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.domain.errors import WrongResetToken
from identity.domain.issued_codes import is_live
from identity.store import accounts, codes, login_failures
from identity.store import profiles as people
from identity.use_cases.accounts.prove_email import prove_email
from identity.use_cases.sessions.end_sessions import Ended, end_sessions

RESETTING = ServiceItself("a person who resets their password is no caller yet")


async def reset_password(
    database: Database, passwords: Passwords, hashes: KeyedHashes, token: str, password: str, *, now: datetime
) -> tuple[UUID, Ended]:
    """A person who has the token of a mail sets a new password, once; all their sessions end, and every other token dies.

    The token is a proof of the address: the first one removes what was set before it, as a code does.

    Raises WrongResetToken. No transaction is open while the password is hashed.
    """
    token_hash = hashes.of("password_reset", "", token)
    async with database.unit_of_work(acting_as=RESETTING) as uow:
        issued = await codes.find_reset(uow, token_hash)
    if issued is None or issued.user_id is None or not is_live(issued, now):
        raise WrongResetToken
    password_hash = await passwords.hash(password)
    user_id = issued.user_id

    async def reset(uow: UnitOfWork) -> Ended:
        return await _reset(uow, hashes, user_id, token_hash, password_hash, now)

    return user_id, await database.transact(acting_as=RESETTING, work=reset)


async def _reset(
    uow: UnitOfWork, hashes: KeyedHashes, user_id: UUID, token_hash: bytes, password_hash: str, now: datetime
) -> Ended:
    # The profile, the account, then the code; of two resets with one token the second finds it used.
    await people.lock_profile(uow, user_id)
    await accounts.lock_password_hash(uow, user_id)
    email = await accounts.find_email(uow, user_id)
    issued = await codes.lock_reset(uow, token_hash)
    if email is None or issued is None or not is_live(issued, now):
        raise WrongResetToken
    await codes.mark_used(uow, issued.id, now)
    await codes.end_codes(uow, user_id, now)
    ended = await end_sessions(uow, user_id, because="password_reset", now=now)
    await prove_email(uow, hashes, user_id, email, kept_hash=None, now=now)
    await accounts.set_password_hash(uow, user_id, password_hash)
    await login_failures.forget_failures(uow, hashes.of("login", email))
    uow.publish(CredentialsChanged(user_id=user_id, change="password_reset"))
    return ended
