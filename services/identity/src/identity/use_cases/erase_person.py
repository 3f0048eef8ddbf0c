"""Erase a person who asks for it."""

from datetime import datetime

from common.caller import Caller, ServiceItself
from common.database import Database, UnitOfWork
from common.problems import ValidationFailed
from contracts.identity import UserErased
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.mailbox_hashes import hash_of_mailbox
from identity.credentials.passwords import Passwords
from identity.credentials.patience import Patience
from identity.domain.errors import PersonStillBound, ProfileMissing, WrongPassword
from identity.store import accounts, erasure, login_failures
from identity.use_cases.end_sessions import Ended, end_sessions
from identity.use_cases.prove_password import Proven, prove_password

ERASING = ServiceItself("credentials are out of every caller's reach")


async def erase_person(
    database: Database,
    passwords: Passwords,
    patience: Patience,
    hashes: KeyedHashes,
    caller: Caller,
    password: str | None,
    *,
    now: datetime,
) -> Ended:
    """A person goes: account, sessions, factors and contact are removed, and every service hears of it.

    Their address is free for a new account, which the same mailbox is not rewarded for. Whoever has a second factor must
    have shown it; whoever has a password here shows it. Raises StepUpRequired, WrongPassword, ProfileMissing, and
    PersonStillBound for the owner of a vendor and for staff.
    """
    proven = await _prove(database, passwords, patience, hashes, caller, password, now=now)

    async def erase(uow: UnitOfWork) -> Ended:
        # The profile before the account, as whoever grants a role or suspends takes them.
        mailbox = await erasure.lock_person(uow, caller.id)
        if mailbox is None:
            raise ProfileMissing
        standing_hash = await accounts.lock_password_hash(uow, caller.id)
        if proven is not None and standing_hash != proven.password_hash:
            raise WrongPassword
        bonds = await erasure.find_bonds(uow, caller.id)
        if bonds.owns_a_vendor or bonds.is_staff:
            raise PersonStillBound(owns_a_vendor=bonds.owns_a_vendor)
        ended = await end_sessions(uow, caller.id, because="erased", now=now)
        await erasure.forget_person(uow, caller.id, hash_of_mailbox(hashes, mailbox), now)
        if proven is not None:
            await login_failures.forget_failures(uow, proven.failures_key)
        uow.publish(UserErased(user_id=caller.id))
        return ended

    return await database.transact(acting_as=ERASING, work=erase)


async def _prove(
    database: Database,
    passwords: Passwords,
    patience: Patience,
    hashes: KeyedHashes,
    caller: Caller,
    password: str | None,
    *,
    now: datetime,
) -> Proven | None:
    """The password's proof; None for somebody who signs in elsewhere and has none here."""
    async with database.unit_of_work(acting_as=ERASING) as uow:
        if await erasure.lock_person(uow, caller.id) is None:
            raise ProfileMissing
        standing = await accounts.find_standing(uow, caller.id)
        email = await accounts.find_email(uow, caller.id)
    if standing.has_second_factor:
        caller.must_have_stepped_up(now)
    if email is None:
        return None
    if password is None:
        raise ValidationFailed.of("password", "is required")
    proven = await prove_password(database, passwords, patience, hashes, email, password, now=now)
    if proven is None:
        raise WrongPassword
    return proven
