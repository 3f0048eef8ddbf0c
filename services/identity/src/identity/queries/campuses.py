"""Campuses and their hubs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import TimePosition
from identity.responses import campuses as responses

_CAMPUS_COLUMNS: Final = "id, name, domain, active, revision, created_at"
_HUB_COLUMNS: Final = "id, campus_id, name, address, delivery_fee_minor, active, revision, created_at, opening_hours"
_CAMPUSES: Final = f"""
SELECT {_CAMPUS_COLUMNS} FROM campuses
WHERE active AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_CAMPUS: Final = f"SELECT {_CAMPUS_COLUMNS} FROM campuses WHERE id = $1"
_HUBS: Final = f"""
SELECT {_HUB_COLUMNS} FROM hubs
WHERE campus_id = $4 AND active AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
# A hub is visible only when its campus is.
_HUB: Final = f"""
SELECT {_HUB_COLUMNS} FROM hubs WHERE id = $1 AND EXISTS (SELECT FROM campuses WHERE campuses.id = hubs.campus_id)
"""


@dataclass(frozen=True, slots=True)
class Campus:
    id: UUID
    name: str
    domain: str | None
    active: bool
    revision: int
    created_at: datetime

    def response(self) -> responses.Campus:
        return responses.Campus.from_record(self)


@dataclass(frozen=True, slots=True)
class Hub:
    """A pick-up point; the delivery fee is in kobo."""

    id: UUID
    campus_id: UUID
    name: str
    address: str
    delivery_fee_minor: int
    active: bool
    revision: int
    created_at: datetime
    opening_hours: list[dict[str, str]]

    def response(self) -> responses.Hub:
        return responses.Hub.from_record(self)


async def page_of_campuses(uow: UnitOfWork, after: TimePosition | None, limit: int) -> list[Campus]:
    """Return up to `limit` + 1 open campuses, oldest first; the extra one shows that there is a next page."""
    return [Campus(*row) for row in await uow.fetch(_CAMPUSES, *(after or (None, None)), limit + 1)]


async def page_of_hubs(uow: UnitOfWork, campus_id: UUID, after: TimePosition | None, limit: int) -> list[Hub]:
    """Return up to `limit` + 1 open hubs of the campus, oldest first."""
    return [Hub(*row) for row in await uow.fetch(_HUBS, *(after or (None, None)), limit + 1, campus_id)]


async def get_campus(uow: UnitOfWork, campus_id: UUID) -> Campus:
    """Raise NotFound."""
    row = await uow.fetch_row(_CAMPUS, campus_id)
    if row is None:
        raise NotFound
    return Campus(*row)


async def get_hub(uow: UnitOfWork, hub_id: UUID) -> Hub:
    """Raise NotFound."""
    row = await uow.fetch_row(_HUB, hub_id)
    if row is None:
        raise NotFound
    return Hub(*row)
