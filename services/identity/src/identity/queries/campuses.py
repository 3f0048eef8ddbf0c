"""Campuses and their hubs."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from identity.queries.pages import Position, split_position

_CAMPUSES: Final = """
SELECT id, name, domain, active, revision, created_at FROM campuses
WHERE active AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_CAMPUS: Final = "SELECT id, name, domain, active, revision, created_at FROM campuses WHERE id = $1"
_HUBS: Final = """
SELECT id, campus_id, name, address, delivery_fee_minor, active, revision, created_at FROM hubs
WHERE campus_id = $4 AND active AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
# Whoever does not see a closed campus does not see its hubs.
_HUB: Final = """
SELECT id, campus_id, name, address, delivery_fee_minor, active, revision, created_at FROM hubs
WHERE id = $1 AND EXISTS (SELECT FROM campuses WHERE campuses.id = hubs.campus_id)
"""


async def page_of_campuses(uow: UnitOfWork, after: Position | None, limit: int) -> list[asyncpg.Record]:
    """One row more than `limit` when there is a next page; oldest first."""
    return await uow.fetch(_CAMPUSES, *split_position(after), limit + 1)


async def page_of_hubs(uow: UnitOfWork, campus_id: UUID, after: Position | None, limit: int) -> list[asyncpg.Record]:
    return await uow.fetch(_HUBS, *split_position(after), limit + 1, campus_id)


async def find_campus(uow: UnitOfWork, campus_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_CAMPUS, campus_id)


async def find_hub(uow: UnitOfWork, hub_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_HUB, hub_id)


def campus_shown(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "domain": row["domain"],
        "active": row["active"],
        "revision": row["revision"],
        "createdAt": iso(row["created_at"]),
    }


def hub_shown(row: asyncpg.Record) -> dict[str, Any]:
    """The delivery fee is in kobo."""
    return {
        "id": row["id"],
        "campusId": row["campus_id"],
        "name": row["name"],
        "address": row["address"],
        "deliveryFeeMinor": row["delivery_fee_minor"],
        "active": row["active"],
        "revision": row["revision"],
        "createdAt": iso(row["created_at"]),
    }
