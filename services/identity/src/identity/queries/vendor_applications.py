"""Applications to become a vendor, for the applicant and the staff of the campus."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import OffsetPage
from identity.responses import vendors as responses

_COLUMNS: Final = """
id, user_id, business_name, legal_name, campus_id, category, description, status, reason, vendor_id, decided_by,
    decided_at, created_at
"""
_FILTER: Final = "($1::text IS NULL OR status = $1) AND ($2::uuid IS NULL OR campus_id = $2)"
# Staff decide on the applications of their campus, except on their own.
AWAITING_APPLICATION: Final = """
status = 'pending' AND campus_id = (SELECT app_campus_id()) AND user_id <> (SELECT app_user_id())
"""
_PAGE: Final = (
    f"SELECT {_COLUMNS} FROM vendor_applications WHERE {_FILTER} {{1}} ORDER BY created_at {{0}}, id {{0}} "
    "LIMIT $3 OFFSET $4"
)
_TOTAL: Final = f"SELECT count(*) FROM vendor_applications WHERE {_FILTER} {{0}}"
_APPLICANT: Final = """
SELECT full_name, email, confirmed_email IS NOT DISTINCT FROM email AS email_confirmed, campus_id FROM profiles
WHERE id = $1 AND erased_at IS NULL
"""
_APPLICATION: Final = f"SELECT {_COLUMNS} FROM vendor_applications WHERE id = $1"


@dataclass(frozen=True, slots=True)
class VendorApplication:
    id: UUID
    user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str
    status: str
    reason: str | None
    vendor_id: UUID | None
    decided_by: UUID | None
    decided_at: datetime | None
    created_at: datetime

    def response(
        self, viewer_id: UUID, applicant: responses.Applicant | UnsetType | None = UNSET
    ) -> responses.VendorApplication:
        """Hide from the applicant who decided."""
        decided_by = UNSET if self.user_id == viewer_id else self.decided_by
        return responses.VendorApplication.from_record(self, decided_by=decided_by, applicant=applicant)


async def page_of_applications(
    uow: UnitOfWork, status: str | None, campus_id: UUID | None, *, awaiting_decision: bool = False, page: OffsetPage
) -> tuple[list[VendorApplication], int]:
    """Return one page and the total of the caller's own applications, and for staff those of their campus; with
    `awaiting_decision` those that the caller may decide on.
    """
    awaiting = f"AND {AWAITING_APPLICATION}" if awaiting_decision else ""
    statement = _PAGE.format("DESC" if page.descending else "ASC", awaiting)
    rows = await uow.fetch(statement, status, campus_id, page.limit, page.offset)
    return [VendorApplication(*row) for row in rows], await uow.fetch_value(_TOTAL.format(awaiting), status, campus_id)


async def get_application(uow: UnitOfWork, application_id: UUID) -> VendorApplication:
    """Raise NotFound."""
    row = await uow.fetch_row(_APPLICATION, application_id)
    if row is None:
        raise NotFound
    return VendorApplication(*row)


async def find_applicant(uow: UnitOfWork, user_id: UUID) -> responses.Applicant | None:
    """Return what the deciding staff read of the applicant; None after an erasure. Runs as the service."""
    row = await uow.fetch_row(_APPLICANT, user_id)
    if row is None:
        return None
    return responses.Applicant.from_row(row)
