"""Withdraw the decisions that a person has prepared."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.store import commission_changes, staff


async def reject_prepared_by(uow: UnitOfWork, preparer_id: UUID, *, by: UUID, now: datetime) -> None:
    """Whoever is no admin any more has also prepared nothing: a second admin must not complete it unawares."""
    for grant_id, user_id, role in await staff.reject_grants_of(uow, preparer_id, by=by, now=now):
        await staff.record_staff_action(
            uow,
            actor_id=by,
            act="role_grant_rejected",
            subject_kind="person",
            subject_id=user_id,
            detail={"role": role, "grantId": str(grant_id), "preparedBy": str(preparer_id)},
            now=now,
        )
    for change in await commission_changes.reject_changes_of(uow, preparer_id, by=by, now=now):
        await staff.record_staff_action(
            uow,
            actor_id=by,
            act="commission_change_rejected",
            subject_kind="vendor",
            subject_id=change.vendor_id,
            detail={"changeId": str(change.id), "preparedBy": str(preparer_id)},
            now=now,
        )
