"""Reject the pending decisions that a user has prepared."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.store import commission_changes, staff


async def reject_prepared_by(uow: UnitOfWork, preparer_id: UUID, *, by: UUID, now: datetime) -> None:
    """Reject what a removed admin prepared, so that a second admin does not complete it unaware."""
    for grant_id, user_id, role in await staff.reject_grants_of(uow, preparer_id, by=by, now=now):
        await staff.record_staff_action(
            uow,
            "role_grant_rejected",
            "person",
            user_id,
            {"role": role, "grantId": str(grant_id), "preparedBy": str(preparer_id)},
            by=by,
            now=now,
        )
    for change in await commission_changes.reject_changes_of(uow, preparer_id, by=by, now=now):
        await staff.record_staff_action(
            uow,
            "commission_change_rejected",
            "vendor",
            change.vendor_id,
            {"changeId": str(change.id), "preparedBy": str(preparer_id)},
            by=by,
            now=now,
        )
