"""Vendors and vendor applications: writes, and the reads that a write decides on."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.state_changes import allows_change, change_state
from common.database.unit_of_work import UnitOfWork
from identity.domain.vendor_applications import APPLICATION, Application, NewApplication, Outcome
from identity.domain.vendors import VENDOR, Vendor, VendorStatus

# Application, decision and erasure lock the applicant's profile, so that the second sees the first.
_LOCK_APPLICANT: Final = "SELECT true FROM profiles WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE"
_LOCK_APPLICANT_OF: Final = """
SELECT true FROM profiles WHERE id = (SELECT user_id FROM vendor_applications WHERE id = $1) FOR NO KEY UPDATE
"""
_IS_APPLICANT_EMAIL_CONFIRMED: Final = "SELECT EXISTS (SELECT FROM profiles WHERE id = $1 AND confirmed_email = email)"
_IS_CAMPUS_OPEN: Final = "SELECT EXISTS (SELECT FROM campuses WHERE id = $1 AND active)"
_OWNS_A_VENDOR: Final = "SELECT EXISTS (SELECT FROM vendors_in_full WHERE owner_user_id = $1)"
_RECORD_APPLICATION: Final = """
INSERT INTO vendor_applications (id, user_id, business_name, legal_name, campus_id, category, description, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (user_id) WHERE status = 'pending' DO NOTHING RETURNING true
"""
_LOCK_APPLICATION: Final = """
SELECT id, user_id, business_name, legal_name, campus_id, category, description, status
FROM vendor_applications WHERE id = $1 FOR UPDATE
"""
_SAVE_DECISION: Final = f"""
UPDATE vendor_applications SET status = $2, reason = $3, decided_by = $4, decided_at = $5, vendor_id = $6
WHERE id = $1 AND {allows_change(APPLICATION, "$2")}
"""
_RECORD_VENDOR: Final = """
INSERT INTO vendors (id, owner_user_id, business_name, legal_name, campus_id, category, description, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (owner_user_id) DO NOTHING RETURNING true
"""
_LOCK_VENDOR: Final = """
SELECT id, owner_user_id, business_name, legal_name, campus_id, category, description, status, suspension_reason,
       commission_basis_points, revision, absent_until, absence_message, opening_hours
FROM vendors WHERE id = $1 FOR UPDATE
"""
_SAVE_VENDOR: Final = """
UPDATE vendors SET business_name = $2, category = $3, description = $4, commission_basis_points = $5, absent_until = $6,
    absence_message = $7, opening_hours = $8, revision = revision + 1
WHERE id = $1
"""
_SAVE_VENDOR_STATUS: Final = f"""
UPDATE vendors SET status = $2, suspension_reason = $3, revision = revision + 1
WHERE id = $1 AND {allows_change(VENDOR, "$2")}
"""


async def lock_applicant(uow: UnitOfWork, user_id: UUID) -> bool:
    """Return whether the user has a profile; it stays locked until the transaction ends."""
    return bool(await uow.fetch_value(_LOCK_APPLICANT, user_id))


async def is_applicant_email_confirmed(uow: UnitOfWork, user_id: UUID) -> bool:
    """Return whether the mail address of the profile is confirmed."""
    return bool(await uow.fetch_value(_IS_APPLICANT_EMAIL_CONFIRMED, user_id))


async def is_campus_open(uow: UnitOfWork, campus_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_CAMPUS_OPEN, campus_id))


async def owns_a_vendor(uow: UnitOfWork, user_id: UUID) -> bool:
    """Run as the user, because other users' vendors are not visible to them."""
    return bool(await uow.fetch_value(_OWNS_A_VENDOR, user_id))


async def record_application_if_new(
    uow: UnitOfWork, application_id: UUID, user_id: UUID, details: NewApplication, now: datetime
) -> bool:
    """Return False when the user has an open application."""
    values = (details.business_name, details.legal_name, details.campus_id, details.category, details.description)
    return bool(await uow.fetch_value(_RECORD_APPLICATION, application_id, user_id, *values, now))


async def lock_application(uow: UnitOfWork, application_id: UUID) -> Application | None:
    """Return the application, locked with its applicant's profile: of two decisions the second sees the first.

    None when the applicant was erased.
    """
    await uow.execute(_LOCK_APPLICANT_OF, application_id)
    row = await uow.fetch_row(_LOCK_APPLICATION, application_id)
    if row is None:
        return None
    details = NewApplication(
        row["business_name"], row["legal_name"], row["campus_id"], row["category"], row["description"]
    )
    return Application(row["id"], row["user_id"], details, row["status"])


async def save_decision(
    uow: UnitOfWork,
    application_id: UUID,
    outcome: Outcome,
    *,
    by: UUID,
    now: datetime,
    reason: str | None = None,
    vendor_id: UUID | None = None,
) -> None:
    await change_state(uow, _SAVE_DECISION, application_id, outcome, reason, by, now, vendor_id)


async def record_vendor_if_new(uow: UnitOfWork, vendor_id: UUID, application: Application, now: datetime) -> bool:
    """Return False when the applicant owns a vendor already."""
    details = application.details
    values = (details.business_name, details.legal_name, details.campus_id, details.category, details.description)
    return bool(await uow.fetch_value(_RECORD_VENDOR, vendor_id, application.user_id, *values, now))


async def lock_vendor(uow: UnitOfWork, vendor_id: UUID) -> Vendor:
    """Return the vendor, locked until the transaction ends."""
    row = await uow.fetch_row(_LOCK_VENDOR, vendor_id)
    if row is None:
        raise LookupError("the vendor was there a moment ago, and vendors are never deleted")
    return Vendor(**row)


async def save_vendor(uow: UnitOfWork, vendor: Vendor) -> None:
    """Save the vendor's presentation and commission."""
    await uow.execute(
        _SAVE_VENDOR,
        vendor.id,
        vendor.business_name,
        vendor.category,
        vendor.description,
        vendor.commission_basis_points,
        vendor.absent_until,
        vendor.absence_message,
        vendor.opening_hours,
    )


async def save_vendor_status(uow: UnitOfWork, vendor_id: UUID, status: VendorStatus, reason: str | None) -> None:
    await change_state(uow, _SAVE_VENDOR_STATUS, vendor_id, status, reason)
