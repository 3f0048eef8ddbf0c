"""Check a password."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.login_throttle import LoginThrottle
from identity.credentials.passwords import Passwords
from identity.credentials.sign_up_passwords import sign_up_password
from identity.domain.login_delays import FORGOTTEN_AFTER, pause_seconds
from identity.store import accounts, login_failures, sign_ups

VERIFYING_PASSWORD = ServiceItself("a person who shows a password is no caller yet")


@dataclass(frozen=True, slots=True)
class VerifiedPassword:
    """Whose password it is, and against what it was checked. `failures_key` counts the failures of the address."""

    user_id: UUID
    password_hash: str
    failures_key: bytes
    had_failures: bool


@dataclass(frozen=True, slots=True)
class UnconfirmedSignUp:
    """The password of a sign-up to an address that is not proven by it: of a new account, or of a sign-up that found one."""


async def verify_password(
    database: Database,
    passwords: Passwords,
    throttle: LoginThrottle,
    hashes: KeyedHashes,
    email: str,
    password: str,
    *,
    now: datetime,
) -> VerifiedPassword | UnconfirmedSignUp | None:
    """The account of a normal address that is proven, when this is its password; None otherwise, and one more failure is counted.

    Before the proof, and for whoever signed up with an address that was taken, the right password is AwaitingProof: the two
    take the same work and leave the same trace, so that nobody finds out by signing up which addresses have an account.

    After failures, wherever they came from, the look is put off; it is never refused. An unknown address is counted,
    put off and hashed in the same way, and so is a suspended person's. No transaction is open while anybody waits or hashes.
    """
    failures_key = hashes.of("login", email)
    async with database.unit_of_work(acting_as=VERIFYING_PASSWORD) as uow:
        account = await accounts.find_open_account(uow, email)
        failures, last_failed_at = await login_failures.find_failures(uow, failures_key)
    await throttle.wait(pause_seconds(failures, last_failed_at, now))
    password_hash = account.password_hash if account else None
    is_right = await passwords.matches(password_hash, password)
    if account is not None and password_hash is not None and is_right and account.is_confirmed:
        return VerifiedPassword(account.user_id, password_hash, failures_key, failures > 0)
    shown = await sign_up_password(passwords, hashes, email, password)
    async with database.unit_of_work(acting_as=VERIFYING_PASSWORD) as uow:
        # An account from before sign-ups were kept has its password's hash only.
        if await sign_ups.is_sign_up_password(uow, shown.address_hash, shown.digest) or is_right:
            return UnconfirmedSignUp()
        await login_failures.count_failure(uow, failures_key, now, forgotten_before=now - FORGOTTEN_AFTER)
    return None
