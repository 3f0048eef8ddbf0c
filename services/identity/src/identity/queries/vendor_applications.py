"""Applications to become a vendor, as the applicant and the staff of the campus see them."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none

_COLUMNS: Final = """
id, user_id, business_name, legal_name, campus_id, category, description, status, reason, decided_by, decided_at, vendor_id, created_at
"""
_FILTER: Final = "($1::text IS NULL OR status = $1) AND ($2::uuid IS NULL OR campus_id = $2)"
_PAGE: Final = (
    f"SELECT {_COLUMNS} FROM vendor_applications WHERE {_FILTER} ORDER BY created_at {{0}}, id {{0}} LIMIT $3 OFFSET $4"
)
_NEWEST: Final = _PAGE.format("DESC")
_OLDEST: Final = _PAGE.format("ASC")
_TOTAL: Final = f"SELECT count(*) FROM vendor_applications WHERE {_FILTER}"
_APPLICATION: Final = f"SELECT {_COLUMNS} FROM vendor_applications WHERE id = $1"


async def page_of_applications(
    uow: UnitOfWork, status: str | None, campus_id: UUID | None, *, descending: bool, limit: int, offset: int
) -> tuple[list[asyncpg.Record], int]:
    """One page and the total of those that the caller may see: own ones, and the campus's for its staff."""
    rows = await uow.fetch(_NEWEST if descending else _OLDEST, status, campus_id, limit, offset)
    return rows, await uow.fetch_value(_TOTAL, status, campus_id)


async def find_application(uow: UnitOfWork, application_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_APPLICATION, application_id)


def application_shown(row: asyncpg.Record, viewer_id: UUID) -> dict[str, Any]:
    """The public shape; who decided is the staff's business, not the applicant's."""
    shown = {
        "id": row["id"],
        "userId": row["user_id"],
        "businessName": row["business_name"],
        "legalName": row["legal_name"],
        "campusId": row["campus_id"],
        "category": row["category"],
        "description": row["description"],
        "status": row["status"],
        "reason": row["reason"],
        "vendorId": row["vendor_id"],
        "decidedAt": iso_or_none(row["decided_at"]),
        "createdAt": iso(row["created_at"]),
    }
    if row["user_id"] != viewer_id:
        shown["decidedBy"] = row["decided_by"]
    return shown
