"""SQL for the demo data: rows with fixed ids, written once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.demo import DemoCampus, DemoHub, DemoVendor

_HASHES: Final = "SELECT user_id, password_hash FROM accounts WHERE user_id = ANY ($1::uuid[])"
_RECORD_CAMPUS: Final = """
INSERT INTO campuses (id, name, domain, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING RETURNING true
"""
_RECORD_HUB: Final = """
INSERT INTO hubs (id, campus_id, name, address, delivery_fee_minor, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING RETURNING true
"""
_RECORD_VENDOR: Final = """
INSERT INTO vendors (id, owner_user_id, business_name, legal_name, campus_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING RETURNING true
"""
_RECORD_PACKER: Final = """
INSERT INTO shop_members (user_id, vendor_id, role, added_by, joined_at) VALUES ($1, $2, 'packer', $3, $4)
ON CONFLICT (user_id) DO NOTHING RETURNING true
"""
_SAVE_ACCOUNT: Final = """
INSERT INTO accounts (user_id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET password_hash = excluded.password_hash
"""
_SAVE_CONFIRMED: Final = """
UPDATE profiles SET confirmed_email = email,
    confirmed_phone = CASE WHEN phone <> $3
        OR EXISTS (SELECT FROM profiles o WHERE o.confirmed_phone = $3 AND o.id <> $1)
        THEN confirmed_phone ELSE phone END
WHERE id = $1 AND email = $2 AND confirmed_email IS DISTINCT FROM email RETURNING true
"""
_DELETE_FACTORS: Final = "DELETE FROM totp_factors WHERE user_id = $1"


async def list_password_hashes(uow: UnitOfWork, user_ids: Sequence[UUID]) -> dict[UUID, str]:
    return {row["user_id"]: row["password_hash"] for row in await uow.fetch(_HASHES, list(user_ids))}


async def record_campus_if_new(uow: UnitOfWork, campus: DemoCampus, now: datetime) -> bool:
    return bool(await uow.fetch_value(_RECORD_CAMPUS, campus.id, campus.name, campus.domain, now))


async def record_hub_if_new(uow: UnitOfWork, hub: DemoHub, now: datetime) -> bool:
    values = (hub.id, hub.campus_id, hub.name, hub.address, hub.delivery_fee_minor, now)
    return bool(await uow.fetch_value(_RECORD_HUB, *values))


async def record_vendor_if_new(uow: UnitOfWork, vendor: DemoVendor, now: datetime) -> bool:
    values = (vendor.id, vendor.owner_user_id, vendor.business_name, vendor.legal_name, vendor.campus_id, now)
    return bool(await uow.fetch_value(_RECORD_VENDOR, *values))


async def record_packer_if_new(uow: UnitOfWork, user_id: UUID, vendor: DemoVendor, now: datetime) -> bool:
    return bool(await uow.fetch_value(_RECORD_PACKER, user_id, vendor.id, vendor.owner_user_id, now))


async def save_account(uow: UnitOfWork, user_id: UUID, email: str, password_hash: str, now: datetime) -> None:
    """Save the account with this password; all demo accounts share one hash."""
    await uow.execute(_SAVE_ACCOUNT, user_id, email, password_hash, now)


async def save_confirmed(uow: UnitOfWork, user_id: UUID, email: str, phone: str) -> bool:
    """Confirm address and number of a demo account, unless the user changed the number. Return whether it was
    unconfirmed.
    """
    return bool(await uow.fetch_value(_SAVE_CONFIRMED, user_id, email, phone))


async def delete_factors(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_DELETE_FACTORS, user_id)
