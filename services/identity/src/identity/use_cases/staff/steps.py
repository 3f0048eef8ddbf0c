"""Steps of staff that several operations share."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from identity.domain.errors import NoLongerAdmin, NoLongerCampusAdmin
from identity.domain.staff import PreparedGrant, StaffUser, check_not_own_grant
from identity.store import commission_changes, factor_resets, staff
from identity.store.shop_members import find_member
from identity.use_cases.accounts.steps import publish_profile
from identity.use_cases.shop_members.steps import publish_member


async def lock_staff_as_admin(uow: UnitOfWork, caller: Caller) -> None:
    """Lock changes of staff, then check that the caller is still an active platform_admin.

    The token may be outdated: of two admins who revoke each other, the second is rejected. An admin by a further
    issuer's token holds no role here. Raises NoLongerAdmin (409).
    """
    await staff.lock_staff(uow)
    if await staff.is_suspended(uow, caller.id) or (caller.issuer is None and not await staff.is_admin(uow, caller.id)):
        raise NoLongerAdmin


async def lock_staff_as_campus_admin(uow: UnitOfWork, caller: Caller, hub_id: UUID) -> UUID:
    """Lock changes of staff, check that the caller is still an active admin of the hub's campus, and return the campus.

    Raises NotFound, Forbidden for a hub of another campus, and NoLongerCampusAdmin (409) for an outdated token.
    """
    campus_id = await staff.find_campus_of_hub(uow, hub_id)
    if campus_id is None:
        raise NotFound
    if caller.campus_id != campus_id:
        raise Forbidden
    await staff.lock_staff(uow)
    if await staff.is_suspended(uow, caller.id) or (
        caller.issuer is None and not await staff.is_campus_admin(uow, caller.id, campus_id)
    ):
        raise NoLongerCampusAdmin
    return campus_id


async def lock_staff_member(uow: UnitOfWork, caller: Caller, user_id: UUID) -> StaffUser:
    """Return the user, while no other change of staff runs and no session of theirs starts.

    Raises NoLongerAdmin (409) and NotFound.
    """
    await lock_staff_as_admin(uow, caller)
    user = await staff.lock_user(uow, user_id)
    if user is None:
        raise NotFound
    return user


async def lock_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID) -> tuple[PreparedGrant, StaffUser]:
    """Return the grant and its user, while no other change of staff runs.

    Raises NotFound, OwnGrant (403) and NoLongerAdmin (409).
    """
    found = await staff.find_grant(uow, grant_id)
    if found is None:
        raise NotFound
    check_not_own_grant(found, caller.id)
    user = await lock_staff_member(uow, caller, found.user_id)
    # The grantee never changes, but the status may have changed before the lock.
    grant = await staff.find_grant(uow, grant_id)
    if grant is None:
        raise NotFound
    return grant, user


async def publish_roles(uow: UnitOfWork, user_id: UUID) -> None:
    """Publish the roles that a suspension has ended, or a reinstatement has given back, so that notices follow them."""
    await publish_profile(uow, user_id)
    member = await find_member(uow, user_id)
    if member is not None:
        await publish_member(uow, member)


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
    for reset in await factor_resets.reject_resets_of(uow, preparer_id, by=by, now=now):
        await staff.record_staff_action(
            uow,
            "factor_reset_rejected",
            "person",
            reset.user_id,
            {"resetId": str(reset.id), "preparedBy": str(preparer_id)},
            by=by,
            now=now,
        )
