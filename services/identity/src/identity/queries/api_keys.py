"""API keys that the caller may read."""

from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import TimePosition

_COLUMNS: Final = """
id, name, hint, vendor_id, scopes, networks, created_by, created_at, expires_at, last_used_at, revoked_at
"""
# A row policy decides what a caller reads.
_PAGE: Final = f"""
SELECT {_COLUMNS} FROM api_keys WHERE $1::timestamptz IS NULL OR (created_at, id) < ($1, $2::uuid)
ORDER BY created_at DESC, id DESC LIMIT $3
"""
_ONE: Final = f"SELECT {_COLUMNS} FROM api_keys WHERE id = $1"


async def page_of_api_keys(uow: UnitOfWork, after: TimePosition | None, limit: int) -> list[asyncpg.Record]:
    """Return up to `limit` + 1 keys, newest first."""
    found: list[asyncpg.Record] = await uow.fetch(_PAGE, *(after or (None, None)), limit + 1)
    return found


async def find_api_key(uow: UnitOfWork, key_id: UUID) -> asyncpg.Record:
    """Raise NotFound."""
    row = await uow.fetch_row(_ONE, key_id)
    if row is None:
        raise NotFound
    return row
