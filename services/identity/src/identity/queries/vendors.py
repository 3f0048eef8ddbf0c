"""Vendors: the public part for all callers, every field for the owner and the staff."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.web.pages import TimePosition
from identity.responses import vendors as responses

_PUBLIC: Final = (
    "id, business_name, campus_id, category, description, created_at, absent_until, absence_message, opening_hours"
)
_IN_FULL: Final = f"{_PUBLIC}, owner_user_id, legal_name, status, suspension_reason, commission_basis_points, revision"
_VENDORS: Final = f"""
SELECT {_PUBLIC} FROM vendors
WHERE ($4::uuid IS NULL OR campus_id = $4) AND ($5::uuid[] IS NULL OR id = ANY ($5))
    AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
ORDER BY created_at, id LIMIT $3
"""
_VENDOR: Final = f"SELECT {_PUBLIC} FROM vendors WHERE id = $1"
# The view returns a vendor only to its owner and the staff.
_VENDORS_IN_FULL: Final = f"""
SELECT {_IN_FULL} FROM vendors_in_full
WHERE ($4::uuid IS NULL OR campus_id = $4) AND ($1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid))
    AND ($5::uuid[] IS NULL OR id = ANY ($5)) AND status = $6
ORDER BY created_at, id LIMIT $3
"""
_VENDOR_IN_FULL: Final = f"SELECT {_IN_FULL} FROM vendors_in_full WHERE id = $1"


@dataclass(frozen=True, slots=True)
class PublicVendor:
    id: UUID
    business_name: str
    campus_id: UUID
    category: str | None
    description: str | None
    created_at: datetime
    absent_until: datetime | None
    absence_message: str | None
    opening_hours: list[dict[str, str]]

    def response(self, now: datetime) -> responses.Vendor:
        """Return the vendor as it is shown at `now`: an absence ends by itself."""
        away = None
        if self.absent_until is not None and self.absent_until > now:
            away = responses.Absence(until=iso(self.absent_until), message=self.absence_message)
        return responses.Vendor.from_record(self, away=away)


@dataclass(frozen=True, slots=True)
class VendorInFull(PublicVendor):
    """`commission_basis_points` is None where the platform's default applies."""

    owner_user_id: UUID
    legal_name: str
    status: str
    suspension_reason: str | None
    commission_basis_points: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class VendorFilter:
    """The filters of a list of vendors; None: all."""

    campus_id: UUID | None = None
    ids: list[UUID] | None = None


async def page_of_vendors(
    uow: UnitOfWork, chosen: VendorFilter, after: TimePosition | None, limit: int
) -> list[PublicVendor]:
    """Return up to `limit` + 1 active vendors, oldest first."""
    rows = await uow.fetch(_VENDORS, *(after or (None, None)), limit + 1, chosen.campus_id, chosen.ids)
    return [PublicVendor(*row) for row in rows]


async def page_of_vendors_in_full(
    uow: UnitOfWork, chosen: VendorFilter, status: str, after: TimePosition | None, limit: int
) -> list[VendorInFull]:
    """Return up to `limit` + 1 vendors that the caller owns or is staff of, oldest first."""
    rows = await uow.fetch(_VENDORS_IN_FULL, *(after or (None, None)), limit + 1, chosen.campus_id, chosen.ids, status)
    return [VendorInFull(*row) for row in rows]


async def find_vendor_in_full(uow: UnitOfWork, vendor_id: UUID) -> VendorInFull | None:
    """Return the vendor to its owner and the staff, None to other callers."""
    row = await uow.fetch_row(_VENDOR_IN_FULL, vendor_id)
    return VendorInFull(*row) if row else None


async def find_vendor(uow: UnitOfWork, vendor_id: UUID) -> PublicVendor | None:
    row = await uow.fetch_row(_VENDOR, vendor_id)
    return PublicVendor(*row) if row else None
