"""Projections of identity's users, vendors, campuses and hubs. Each function returns False for a stale sequence."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.projections import HubProjection, VendorProjection

_SAVE_VENDOR: Final = """
INSERT INTO vendors AS known (
    id, business_name, campus_id, commission_basis_points, owner_user_id, absent_until, absence_message, sequence
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET business_name = excluded.business_name, campus_id = excluded.campus_id,
    commission_basis_points = excluded.commission_basis_points, owner_user_id = excluded.owner_user_id,
    absent_until = excluded.absent_until, absence_message = excluded.absence_message, sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""
_SAVE_VENDOR_STATUS: Final = """
UPDATE vendors SET suspended = $2, standing_sequence = $3 WHERE id = $1 AND standing_sequence < $3
"""
_SAVE_CAMPUS: Final = """
INSERT INTO campuses AS known (id, name, active, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, active = excluded.active, sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""
_SAVE_HUB: Final = """
INSERT INTO hubs AS known (id, campus_id, name, delivery_fee_minor, active, sequence, address, opening_hours)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET campus_id = excluded.campus_id, name = excluded.name,
    delivery_fee_minor = excluded.delivery_fee_minor, active = excluded.active, sequence = excluded.sequence,
    address = coalesce(excluded.address, known.address),
    opening_hours = coalesce(excluded.opening_hours, known.opening_hours)
WHERE known.sequence < excluded.sequence
"""
_FIND_HUB: Final = """
SELECT id, campus_id, name, delivery_fee_minor, active, address, opening_hours FROM hubs WHERE id = $1
"""

_SAVE_BUYER_ADDRESSES: Final = """
INSERT INTO buyer_addresses AS known (user_id, email_hash, phone_hash, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET email_hash = excluded.email_hash, phone_hash = excluded.phone_hash,
    sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""


async def save_buyer_addresses(
    uow: UnitOfWork, user_id: UUID, email_hash: bytes | None, phone_hash: bytes | None, sequence: int
) -> bool:
    """Return whether this is newer than the recorded hashes of the user."""
    return await uow.execute(_SAVE_BUYER_ADDRESSES, user_id, email_hash, phone_hash, sequence) == 1


async def save_vendor(uow: UnitOfWork, vendor: VendorProjection, sequence: int) -> bool:
    rows = await uow.execute(
        _SAVE_VENDOR,
        vendor.id,
        vendor.business_name,
        vendor.campus_id,
        vendor.commission_basis_points,
        vendor.owner_user_id,
        vendor.absent_until,
        vendor.absence_message,
        sequence,
    )
    return rows == 1


async def save_vendor_status(uow: UnitOfWork, vendor_id: UUID, suspended: bool, sequence: int) -> bool:
    return await uow.execute(_SAVE_VENDOR_STATUS, vendor_id, suspended, sequence) == 1


async def save_campus(uow: UnitOfWork, campus_id: UUID, name: str, active: bool, sequence: int) -> bool:
    return await uow.execute(_SAVE_CAMPUS, campus_id, name, active, sequence) == 1


async def save_hub(uow: UnitOfWork, hub: HubProjection, sequence: int) -> bool:
    row = (hub.id, hub.campus_id, hub.name, hub.delivery_fee_minor, hub.active, sequence)
    return await uow.execute(_SAVE_HUB, *row, hub.address, hub.opening_hours) == 1


async def find_hub(uow: UnitOfWork, hub_id: UUID) -> HubProjection | None:
    row = await uow.fetch_row(_FIND_HUB, hub_id)
    return None if row is None else HubProjection(*row)
