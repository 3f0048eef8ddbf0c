"""Begin a session with a password."""

from datetime import datetime

from common.caller import ServiceItself
from common.database import Database
from common.ids import new_id
from identity.credentials.passwords import Passwords
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn
from identity.domain.addresses import normal_email
from identity.domain.errors import WrongCredentials
from identity.domain.standing import SignIn
from identity.store import accounts, sessions
from identity.use_cases.issue_tokens import issue_tokens

LOGGING_IN = ServiceItself("a person who logs in is no caller yet")


async def log_in(
    database: Database,
    passwords: Passwords,
    signing_keys: SigningKeys,
    email: str,
    password: str,
    *,
    issuer: str,
    now: datetime,
) -> SignedIn:
    """A person shows their password and gets the tokens of a new session at AAL1.

    Raises WrongCredentials, after the same work for an unknown address as for a wrong password. No transaction is open
    while the password is hashed.
    """
    async with database.unit_of_work(acting_as=LOGGING_IN) as uow:
        account = await accounts.find_account(uow, normal_email(email))
    user_id, password_hash = account or (None, None)
    if not await passwords.matches(password_hash, password) or user_id is None or password_hash is None:
        raise WrongCredentials
    renewed = await passwords.hash(password) if passwords.is_outdated(password_hash) else None
    async with database.unit_of_work(acting_as=LOGGING_IN) as uow:
        if renewed is not None:
            await accounts.save_password_hash(uow, user_id, password_hash, renewed)
        sign_in = SignIn(new_id(), now)
        await sessions.record_session(uow, user_id, sign_in)
        standing = await accounts.find_standing(uow, user_id)
        return await issue_tokens(uow, signing_keys, standing, sign_in, issuer=issuer, now=now)
