"""Failed logins by address, known or not; the address is stored as a keyed hash only."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork

_FIND: Final = "SELECT failures, last_failed_at FROM login_failures WHERE address_hash = $1"
# After FORGOTTEN_AFTER the count restarts.
_COUNT: Final = """
INSERT INTO login_failures AS f (address_hash, failures, last_failed_at) VALUES ($1, 1, $2)
ON CONFLICT (address_hash) DO UPDATE SET last_failed_at = excluded.last_failed_at,
    failures = CASE WHEN f.last_failed_at <= $3 THEN 1 ELSE least(f.failures, 1000000) + 1 END
"""
_DELETE: Final = "DELETE FROM login_failures WHERE address_hash = $1"


async def find_failures(uow: UnitOfWork, address_hash: bytes) -> tuple[int, datetime | None]:
    """Return the number of failures and the time of the last one."""
    row = await uow.fetch_row(_FIND, address_hash)
    return (row["failures"], row["last_failed_at"]) if row else (0, None)


async def count_failure(uow: UnitOfWork, address_hash: bytes, now: datetime, *, forgotten_before: datetime) -> None:
    await uow.execute(_COUNT, address_hash, now, forgotten_before)


async def clear_failures(uow: UnitOfWork, address_hash: bytes) -> None:
    await uow.execute(_DELETE, address_hash)
