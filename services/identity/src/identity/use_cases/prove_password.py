"""Check a password."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.caller import ServiceItself
from common.database import Database
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.credentials.patience import Patience
from identity.domain.slow_down import FORGOTTEN_AFTER, pause_seconds
from identity.store import accounts, login_failures

PROVING = ServiceItself("a person who shows a password is no caller yet")


@dataclass(frozen=True, slots=True)
class Proven:
    """Whose password it is, and against what it was checked. `failures_key` counts the failures of the address."""

    user_id: UUID
    password_hash: str
    failures_key: bytes
    had_failures: bool


async def prove_password(
    database: Database,
    passwords: Passwords,
    patience: Patience,
    hashes: KeyedHashes,
    email: str,
    password: str,
    *,
    now: datetime,
) -> Proven | None:
    """The account of a normal address, when this is its password; None otherwise, and one more failure is counted.

    After failures, wherever they came from, the look is put off; it is never refused. An unknown address is counted,
    put off and hashed in the same way, and so is a suspended person's. No transaction is open while anybody waits or hashes.
    """
    failures_key = hashes.of("login", email)
    async with database.unit_of_work(acting_as=PROVING) as uow:
        account = await accounts.find_open_account(uow, email)
        failures, last_failed_at = await login_failures.find_failures(uow, failures_key)
    await patience.wait(pause_seconds(failures, last_failed_at, now))
    user_id, password_hash = account or (None, None)
    if await passwords.matches(password_hash, password) and user_id is not None and password_hash is not None:
        return Proven(user_id, password_hash, failures_key, failures > 0)
    async with database.unit_of_work(acting_as=PROVING) as uow:
        await login_failures.count_failure(uow, failures_key, now, forgotten_before=now - FORGOTTEN_AFTER)
    return None
