"""Writes of campuses and hubs. They run as the caller, under row policies."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.campuses import NewHub

_RECORD_CAMPUS: Final = """
INSERT INTO campuses (id, name, domain, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (domain) DO NOTHING
RETURNING true
"""
_SAVE_CAMPUS: Final = """
UPDATE campuses SET name = $3, active = $4, revision = revision + 1 WHERE id = $1 AND revision = $2
"""
_RECORD_HUB: Final = """
INSERT INTO hubs (id, campus_id, name, address, delivery_fee_minor, created_at, opening_hours)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_SAVE_HUB: Final = """
UPDATE hubs SET name = $3, address = $4, delivery_fee_minor = $5, active = $6, opening_hours = $7,
    revision = revision + 1
WHERE id = $1 AND revision = $2
"""


async def record_campus_if_new(uow: UnitOfWork, campus_id: UUID, name: str, domain: str | None, now: datetime) -> bool:
    """Return False when another campus has the domain."""
    return bool(await uow.fetch_value(_RECORD_CAMPUS, campus_id, name, domain, now))


async def save_campus(uow: UnitOfWork, campus_id: UUID, revision: int, *, name: str, active: bool) -> bool:
    """Return False when the campus no longer has this revision."""
    return await uow.execute(_SAVE_CAMPUS, campus_id, revision, name, active) == 1


async def record_hub(uow: UnitOfWork, hub_id: UUID, campus_id: UUID, hub: NewHub, now: datetime) -> None:
    values = (hub_id, campus_id, hub.name, hub.address, hub.delivery_fee_minor, now, hub.opening_hours)
    await uow.execute(_RECORD_HUB, *values)


async def save_hub(uow: UnitOfWork, hub_id: UUID, revision: int, hub: NewHub, *, active: bool) -> bool:
    """Return False when the hub no longer has this revision."""
    values = (hub.name, hub.address, hub.delivery_fee_minor, active, hub.opening_hours)
    return await uow.execute(_SAVE_HUB, hub_id, revision, *values) == 1
