"""Signing keys."""

from datetime import datetime
from typing import Final

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from identity.domain.key_rotation import ListedKey, states_of
from identity.responses.keys import JsonWebKey, SigningKey

_PUBLIC_KEYS: Final = "SELECT public_key FROM signing_keys WHERE retired_at IS NULL ORDER BY signs_from DESC, kid DESC"
_PUBLISHED: Final = "SELECT kid, signs_from FROM signing_keys WHERE retired_at IS NULL"
_PAGE: Final = """
SELECT kid, public_key ->> 'alg' AS algorithm, created_at, signs_from, retired_at, retired_because FROM signing_keys
ORDER BY created_at {0}, kid {0} LIMIT $1 OFFSET $2
"""
_NEWEST, _OLDEST = _PAGE.format("DESC"), _PAGE.format("ASC")
_TOTAL: Final = "SELECT count(*) FROM signing_keys"


async def list_public_keys(uow: UnitOfWork) -> list[JsonWebKey]:
    """Return the public halves of the next, current and previous keys, newest first."""
    return [msgspec.convert(row["public_key"], JsonWebKey) for row in await uow.fetch(_PUBLIC_KEYS)]


async def page_of_signing_keys(uow: UnitOfWork, now: datetime, *, page: OffsetPage) -> Found[SigningKey]:
    """Return one page and the total of all keys, retired ones included. No private half is read."""
    states = states_of([ListedKey(*row) for row in await uow.fetch(_PUBLISHED)], now)
    status = {key.kid: "next" for key in states.next} | {key.kid: "previous" for key in states.previous}
    if states.current:
        status[states.current.kid] = "current"
    rows = await uow.fetch(_NEWEST if page.descending else _OLDEST, page.limit, page.offset)
    shown = [SigningKey.from_row(row, status=status.get(row["kid"], "retired")) for row in rows]
    return shown, await uow.fetch_value(_TOTAL)
