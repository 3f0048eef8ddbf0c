"""Vendors."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.clock import iso
from common.database import UnitOfWork
from identity.queries.pages import Position, split_position

_VENDORS: Final = """
SELECT id, business_name, campus_id, created_at FROM vendors
WHERE ($4::uuid IS NULL OR campus_id = $4) AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_VENDOR: Final = "SELECT id, business_name, campus_id, created_at FROM vendors WHERE id = $1"


async def page_of_vendors(
    uow: UnitOfWork, campus_id: UUID | None, after: Position | None, limit: int
) -> list[asyncpg.Record]:
    return await uow.fetch(_VENDORS, *split_position(after), limit + 1, campus_id)


async def find_vendor(uow: UnitOfWork, vendor_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_VENDOR, vendor_id)


def vendor_shown(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "businessName": row["business_name"],
        "campusId": row["campus_id"],
        "createdAt": iso(row["created_at"]),
    }
