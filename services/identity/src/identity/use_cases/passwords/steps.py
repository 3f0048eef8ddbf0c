"""Steps of passwords that several operations share."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import ServiceItself
from identity.credentials.password_verifier import PasswordVerifier
from identity.credentials.sign_up_passwords import sign_up_password
from identity.domain.login_delays import FORGOTTEN_AFTER, pause_seconds
from identity.store import accounts, login_failures, sign_ups

VERIFYING_PASSWORD = ServiceItself("password verification")


@dataclass(frozen=True, slots=True)
class VerifiedPassword:
    """The user of a verified password, and the hash it matched. `failures_key` is the key of the address's failures."""

    user_id: UUID
    password_hash: str
    failures_key: bytes
    had_failures: bool


@dataclass(frozen=True, slots=True)
class UnconfirmedSignUp:
    """The password of a sign-up whose address is unconfirmed, or had an account already."""


@dataclass(frozen=True, slots=True)
class WrongPassword:
    """A wrong password, or an unknown address: then `user_id` is None."""

    user_id: UUID | None


async def verify_password(
    verifier: PasswordVerifier, email: str, password: str, *, now: datetime
) -> VerifiedPassword | UnconfirmedSignUp | WrongPassword:
    """Verify the password of a normal address; count a failure and return WrongPassword if it is wrong.

    Before the confirmation, and for sign-ups with a registered address, the right password returns UnconfirmedSignUp.
    Both cost the same work and write the same rows, so sign-ups do not reveal which addresses have an account.

    After failures the check is delayed, never refused. Unknown addresses and suspended users are counted, delayed and
    hashed alike. No transaction is open during the delay or the hashing.
    """
    failures_key = verifier.hashes.of("login", email)
    async with verifier.database.unit_of_work(acting_as=VERIFYING_PASSWORD) as uow:
        account = await accounts.find_open_account(uow, email)
        failures, last_failed_at = await login_failures.find_failures(uow, failures_key)
    await verifier.throttle.wait(pause_seconds(failures, last_failed_at, now))
    password_hash = account.password_hash if account else None
    is_right = await verifier.passwords.matches(password_hash, password)
    if account is not None and password_hash is not None and is_right and account.is_confirmed:
        return VerifiedPassword(account.user_id, password_hash, failures_key, failures > 0)
    shown = await sign_up_password(verifier.passwords, verifier.hashes, email, password)
    async with verifier.database.unit_of_work(acting_as=VERIFYING_PASSWORD) as uow:
        # An older account has only its password's hash.
        if await sign_ups.is_sign_up_password(uow, shown.address_hash, shown.digest) or is_right:
            return UnconfirmedSignUp()
        await login_failures.count_failure(uow, failures_key, now, forgotten_before=now - FORGOTTEN_AFTER)
    return WrongPassword(account.user_id if account is not None else None)
