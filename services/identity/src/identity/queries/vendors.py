"""Vendors."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from identity.queries.pages import Position, split_position

_VENDORS: Final = """
SELECT id, business_name, campus_id, category, description, created_at FROM vendors
WHERE ($4::uuid IS NULL OR campus_id = $4) AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_VENDOR: Final = "SELECT id, business_name, campus_id, category, description, created_at FROM vendors WHERE id = $1"
_IN_FULL: Final = """
id, owner_user_id, business_name, legal_name, campus_id, category, description, status, suspension_reason,
commission_basis_points, revision, created_at
"""
# The view shows the owner and the staff what nobody else may read of a vendor.
_VENDORS_IN_FULL: Final = f"""
SELECT {_IN_FULL} FROM vendors_in_full
WHERE ($4::uuid IS NULL OR campus_id = $4) AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid)) AND status = $5
ORDER BY created_at, id LIMIT $3
"""
_VENDOR_IN_FULL: Final = f"SELECT {_IN_FULL} FROM vendors_in_full WHERE id = $1"


async def page_of_vendors(
    uow: UnitOfWork, campus_id: UUID | None, after: Position | None, limit: int
) -> list[asyncpg.Record]:
    return await uow.fetch(_VENDORS, *split_position(after), limit + 1, campus_id)


async def page_of_vendors_in_full(
    uow: UnitOfWork, campus_id: UUID | None, status: str, after: Position | None, limit: int
) -> list[asyncpg.Record]:
    """Those of which the caller may know everything."""
    return await uow.fetch(_VENDORS_IN_FULL, *split_position(after), limit + 1, campus_id, status)


async def find_vendor_in_full(uow: UnitOfWork, vendor_id: UUID) -> asyncpg.Record | None:
    """For the owner and the staff; None for everybody else, whose is `find_vendor`."""
    return await uow.fetch_row(_VENDOR_IN_FULL, vendor_id)


async def find_vendor(uow: UnitOfWork, vendor_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_VENDOR, vendor_id)


def vendor_shown(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "businessName": row["business_name"],
        "campusId": row["campus_id"],
        "category": row["category"],
        "description": row["description"],
        "createdAt": iso(row["created_at"]),
    }


def vendor_shown_in_full(row: asyncpg.Record) -> dict[str, Any]:
    """As its owner and the staff see it; `commissionBasisPoints` is null where the platform's default counts."""
    return {
        **vendor_shown(row),
        "ownerUserId": row["owner_user_id"],
        "legalName": row["legal_name"],
        "status": row["status"],
        "suspensionReason": row["suspension_reason"],
        "commissionBasisPoints": row["commission_basis_points"],
        "revision": row["revision"],
    }
