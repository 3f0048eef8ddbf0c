"""Open an account."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.caller import ServiceItself
from common.database import Database, UnitOfWork
from common.ids import new_id
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.domain.institutions import Institutions
from identity.domain.referrals import Provisioned
from identity.store import accounts
from identity.use_cases.provision_user import NewUser, provision_user

SIGNING_UP = ServiceItself("a person who signs up is no caller yet")


class _AddressTaken(Exception):
    """Rolls back what was begun for an address that has an account."""


@dataclass(frozen=True, slots=True)
class SignUp:
    """What a person tells who signs up; address and number in their normal forms."""

    email: str
    password: str
    full_name: str
    phone: str | None
    referral_token: str | None


async def sign_up(
    database: Database,
    passwords: Passwords,
    request: SignUp,
    *,
    institutions: Institutions,
    hashes: KeyedHashes,
    reward_minor: int,
    now: datetime,
) -> UUID:
    """A person opens an account and becomes a buyer.

    A known address is answered in the same way and after the same work: hash, the whole transaction (rolled back), one
    commit. Only a count on the account tells that it happened.
    """
    password_hash = await passwords.hash(request.password)
    user = NewUser(new_id(), request.email, request.phone, request.full_name, request.referral_token)

    async def open_account(uow: UnitOfWork) -> Provisioned:
        provisioned = await provision_user(
            uow, user, institutions=institutions, hashes=hashes, reward_minor=reward_minor, now=now
        )
        if not await accounts.record_account_once(uow, user.id, request.email, password_hash, now):
            raise _AddressTaken
        return provisioned

    try:
        await database.transact(acting_as=SIGNING_UP, work=open_account)
    except _AddressTaken:
        async with database.unit_of_work(acting_as=SIGNING_UP) as uow:
            await accounts.count_repeated_sign_up(uow, request.email)
    return user.id
