"""Set a new password with a token that was sent."""

from datetime import datetime
from uuid import UUID

from common.caller import ServiceItself
from common.database import Database, UnitOfWork
from contracts.identity import CredentialsChanged
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.domain.errors import WrongResetToken
from identity.domain.issued_codes import Destination, is_live
from identity.store import accounts, codes, login_failures
from identity.use_cases.end_sessions import Ended, end_sessions

RESETTING = ServiceItself("a person who resets their password is no caller yet")


async def reset_password(
    database: Database, passwords: Passwords, hashes: KeyedHashes, token: str, password: str, *, now: datetime
) -> tuple[UUID, Ended]:
    """A person who has the token of a mail sets a new password, once; all their sessions end, and every other token dies.

    Raises WrongResetToken. No transaction is open while the password is hashed.
    """
    token_hash = hashes.of("password_reset", "", token)
    async with database.unit_of_work(acting_as=RESETTING) as uow:
        issued = await codes.find_reset(uow, token_hash)
    if issued is None or issued.user_id is None or not is_live(issued, now):
        raise WrongResetToken
    password_hash = await passwords.hash(password)
    async with database.unit_of_work(acting_as=RESETTING) as uow:
        return issued.user_id, await _reset(uow, hashes, issued.user_id, token_hash, password_hash, now)


async def _reset(
    uow: UnitOfWork, hashes: KeyedHashes, user_id: UUID, token_hash: bytes, password_hash: str, now: datetime
) -> Ended:
    # The account first, as everywhere; of two resets with one token the second finds it used.
    standing_hash = await accounts.lock_password_hash(uow, user_id)
    email = await accounts.find_email(uow, user_id)
    issued = await codes.lock_reset(uow, token_hash)
    if standing_hash is None or email is None or issued is None or not is_live(issued, now):
        raise WrongResetToken
    await codes.mark_used(uow, issued.id, now)
    await codes.end_codes(uow, user_id, now)
    await accounts.save_password_hash(uow, user_id, standing_hash, password_hash)
    await login_failures.forget_failures(uow, hashes.of("login", email))
    await codes.save_confirmed(uow, user_id, Destination("email", email))
    uow.publish(CredentialsChanged(user_id=user_id, change="password_reset"))
    return await end_sessions(uow, user_id, because="password_reset", now=now)
