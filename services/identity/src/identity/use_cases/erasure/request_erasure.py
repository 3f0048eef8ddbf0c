"""A person asks to be erased."""

from datetime import datetime

from common.auth.caller import Caller, ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import ValidationFailed
from contracts.identity import ErasureRequested
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.login_throttle import LoginThrottle
from identity.credentials.passwords import Passwords
from identity.domain.errors import OpenObligations, ProfileMissing, WrongPassword
from identity.store import accounts, erasure, login_failures
from identity.use_cases.passwords.verify_password import VerifiedPassword, verify_password

REQUESTING_ERASURE = ServiceItself("credentials are out of every caller's reach")


async def request_erasure(
    database: Database,
    passwords: Passwords,
    throttle: LoginThrottle,
    hashes: KeyedHashes,
    caller: Caller,
    password: str | None,
    *,
    now: datetime,
) -> None:
    """Writes the wish down and asks who keeps orders and money of theirs; asked again meanwhile it changes nothing.

    Whoever has a second factor must have shown it; whoever has a password here shows it. Raises StepUpRequired, WrongPassword,
    ProfileMissing, and OpenObligations for staff and for the owner of a suspended vendor.
    """
    verified = await _verify_caller(database, passwords, throttle, hashes, caller, password, now=now)

    async def ask(uow: UnitOfWork) -> None:
        # The profile before the account, as whoever grants a role or suspends takes them.
        if await erasure.lock_user(uow, caller.id) is None:
            raise ProfileMissing
        stored_hash = await accounts.lock_password_hash(uow, caller.id)
        if verified is not None and stored_hash != verified.password_hash:
            raise WrongPassword
        obligations = await erasure.find_obligations(uow, caller.id)
        if obligations.is_staff or obligations.is_vendor_suspended:
            raise OpenObligations(is_staff=obligations.is_staff)
        if verified is not None:
            await login_failures.clear_failures(uow, verified.failures_key)
        if await erasure.find_open_request(uow, caller.id) is not None:
            return
        request_id = new_id()
        await erasure.record_request(uow, request_id, caller.id, obligations.vendor_id, now)
        uow.publish(ErasureRequested(user_id=caller.id, request_id=request_id, vendor_id=obligations.vendor_id))

    await database.transact(acting_as=REQUESTING_ERASURE, work=ask)


async def _verify_caller(
    database: Database,
    passwords: Passwords,
    throttle: LoginThrottle,
    hashes: KeyedHashes,
    caller: Caller,
    password: str | None,
    *,
    now: datetime,
) -> VerifiedPassword | None:
    """The password's proof; None for a user without a password here, who signs in elsewhere or with codes."""
    async with database.unit_of_work(acting_as=REQUESTING_ERASURE) as uow:
        if await erasure.lock_user(uow, caller.id) is None:
            raise ProfileMissing
        profile = await accounts.find_authorization_profile(uow, caller.id)
        email = await accounts.find_email(uow, caller.id)
        has_password = await accounts.lock_password_hash(uow, caller.id) is not None
    if profile.has_second_factor:
        caller.must_have_stepped_up(now)
    if email is None or not has_password:
        return None
    if password is None:
        raise ValidationFailed.of("password", "is required")
    verified = await verify_password(database, passwords, throttle, hashes, email, password, now=now)
    if not isinstance(verified, VerifiedPassword):
        raise WrongPassword
    return verified
