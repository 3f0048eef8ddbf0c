"""Match the password that a client sends along with a code."""

from typing import Final

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from identity.credentials.passwords import Passwords
from identity.domain.one_time_codes import Destination
from identity.store import accounts

MATCHING_PASSWORD: Final = ServiceItself("password match")


async def match_password(
    database: Database, passwords: Passwords, destination: Destination, password: str | None
) -> str | None:
    """Return the stored hash that the password matches, which the first confirmation of the address keeps; else None.

    An unknown address costs the same work. No transaction is open while the password is hashed.
    """
    if password is None or destination.channel != "email":
        return None
    async with database.unit_of_work(acting_as=MATCHING_PASSWORD) as uow:
        account = await accounts.find_open_account(uow, destination.address)
    password_hash = account.password_hash if account else None
    return password_hash if await passwords.matches(password_hash, password) else None
