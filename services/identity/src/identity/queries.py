"""Reads for GET: rows in their public shape."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.clock import iso
from common.database import UnitOfWork
from contracts.permissions import leading_role
from identity.domain.errors import ProfileMissing

# A position before the first row of any list.
Position = tuple[datetime, UUID]

_PROFILE: Final = """
SELECT p.id, p.email, p.phone, p.full_name, p.campus_id, p.revision, p.created_at, p.updated_at,
    array(SELECT g.role FROM role_grants g WHERE g.user_id = p.id ORDER BY g.role) AS roles
FROM profiles p WHERE p.id = $1
"""
_REFERRAL: Final = """
SELECT p.referral_token, (SELECT count(*) FROM referrals r WHERE r.referrer_id = p.id) AS referred
FROM profiles p WHERE p.id = $1
"""
_CAMPUSES: Final = """
SELECT id, name, domain, active, created_at FROM campuses
WHERE active AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_CAMPUS: Final = "SELECT id, name, domain, active, created_at FROM campuses WHERE id = $1"
_HUBS: Final = """
SELECT id, campus_id, name, address, delivery_fee_minor, active, created_at FROM hubs
WHERE campus_id = $4 AND active AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_VENDORS: Final = """
SELECT id, business_name, campus_id, created_at FROM vendors
WHERE ($4::uuid IS NULL OR campus_id = $4) AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_VENDOR: Final = "SELECT id, business_name, campus_id, created_at FROM vendors WHERE id = $1"
_PUBLIC_KEYS: Final = "SELECT public_key FROM signing_keys ORDER BY created_at DESC"


async def profile_of(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """A person's own profile; raises ProfileMissing."""
    row = await uow.fetch_row(_PROFILE, user_id)
    if row is None:
        raise ProfileMissing
    return {
        "id": row["id"],
        "email": row["email"],
        "phone": row["phone"],
        "fullName": row["full_name"],
        "role": leading_role(row["roles"]),
        "roles": row["roles"],
        "campusId": row["campus_id"],
        "revision": row["revision"],
        "createdAt": iso(row["created_at"]),
        "updatedAt": iso(row["updated_at"]),
    }


async def referral_of(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """A person's referral token and how many came with it; raises ProfileMissing."""
    row = await uow.fetch_row(_REFERRAL, user_id)
    if row is None:
        raise ProfileMissing
    return {"token": row["referral_token"], "count": row["referred"]}


async def page_of_campuses(uow: UnitOfWork, after: Position | None, limit: int) -> list[asyncpg.Record]:
    """One row more than `limit` when there is a next page; oldest first."""
    return await uow.fetch(_CAMPUSES, *_split(after), limit + 1)


async def page_of_hubs(uow: UnitOfWork, campus_id: UUID, after: Position | None, limit: int) -> list[asyncpg.Record]:
    return await uow.fetch(_HUBS, *_split(after), limit + 1, campus_id)


async def page_of_vendors(
    uow: UnitOfWork, campus_id: UUID | None, after: Position | None, limit: int
) -> list[asyncpg.Record]:
    return await uow.fetch(_VENDORS, *_split(after), limit + 1, campus_id)


async def find_campus(uow: UnitOfWork, campus_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_CAMPUS, campus_id)


async def find_vendor(uow: UnitOfWork, vendor_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_VENDOR, vendor_id)


async def list_public_keys(uow: UnitOfWork) -> list[Mapping[str, Any]]:
    """The public halves of the current and the previous signing keys."""
    return [row["public_key"] for row in await uow.fetch(_PUBLIC_KEYS)]


def campus_shown(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "domain": row["domain"],
        "active": row["active"],
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
        "createdAt": iso(row["created_at"]),
    }


def vendor_shown(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "businessName": row["business_name"],
        "campusId": row["campus_id"],
        "createdAt": iso(row["created_at"]),
    }


def _split(after: Position | None) -> tuple[datetime | None, UUID | None]:
    return after or (None, None)
