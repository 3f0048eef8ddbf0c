# ruff: noqa: S105 - a statement about wrong passwords is no password
"""The number of accounts at which passwords or codes were guessed, known addresses and unknown ones."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork

_COUNT_BY_PASSWORD: Final = "SELECT count(*) FROM login_failures WHERE last_failed_at > $1"
_COUNT_BY_CODE: Final = "SELECT count(DISTINCT address_hash) FROM issued_codes WHERE issued_at > $1 AND tries > 0"


async def count_guessed_accounts(uow: UnitOfWork, since: datetime) -> dict[str, int]:
    """Return the numbers of addresses with a wrong password, and with a wrong code, since a time."""
    return {
        "password": await uow.fetch_value(_COUNT_BY_PASSWORD, since),
        "code": await uow.fetch_value(_COUNT_BY_CODE, since),
    }
