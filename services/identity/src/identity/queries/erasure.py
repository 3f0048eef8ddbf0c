"""The status of a user's erasure request."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.responses.profiles import Erasure, OpenObligation

_NEWEST: Final = """
SELECT id, user_id, status, asked_at, decided_at FROM erasure_requests WHERE user_id = $1
ORDER BY asked_at DESC, id DESC LIMIT 1
"""
_MATTERS: Final = """
SELECT service, matter FROM erasure_verdicts, unnest(open_matters) AS matter WHERE request_id = $1
ORDER BY service, matter
"""


async def newest_erasure_of(uow: UnitOfWork, user_id: UUID) -> Erasure | None:
    """Return the newest request, with the open obligations when it was refused."""
    row = await uow.fetch_row(_NEWEST, user_id)
    if row is None:
        return None
    matters = await uow.fetch(_MATTERS, row["id"]) if row["status"] == "refused" else []
    return Erasure.from_row(row, open_matters=[OpenObligation.from_row(matter) for matter in matters])
