"""Prepare a commission change of a vendor."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import StaleRevision
from identity.domain.commission_changes import CHANGE_LIFE, CommissionChange
from identity.domain.errors import CommissionChangeOpen
from identity.store import commission_changes, vendors
from identity.store.staff import record_staff_action
from identity.use_cases.staff.steps import lock_staff_as_admin


async def prepare_commission_change(
    uow: UnitOfWork, caller: Caller, vendor_id: UUID, basis_points: int | None, revision: int | None, *, now: datetime
) -> UUID | None:
    """Return the id of the change that waits for a second platform_admin; None without a difference.

    A repetition returns the same change. Runs as the service after the caller's right was checked. Raises
    VendorIsClosed, StaleRevision, CommissionChangeOpen and NoLongerAdmin (409).
    """
    await lock_staff_as_admin(uow, caller)
    vendor = await vendors.lock_vendor(uow, vendor_id)
    vendor.check_open()
    if revision is not None and revision != vendor.revision:
        raise StaleRevision
    if vendor.commission_basis_points == basis_points:
        return None
    waiting = await commission_changes.find_open_change(uow, vendor_id, now)
    if waiting is not None:
        if waiting.prepared_by != caller.id or waiting.basis_points != basis_points:
            raise CommissionChangeOpen
        return waiting.id
    before = vendor.commission_basis_points
    change = CommissionChange(new_id(), vendor_id, before, basis_points, caller.id, now + CHANGE_LIFE, "prepared")
    await commission_changes.record_change(uow, change, now)
    await record_staff_action(
        uow,
        "commission_change_prepared",
        "vendor",
        vendor_id,
        {"commissionBasisPoints": basis_points, "before": before, "changeId": str(change.id)},
        by=caller.id,
        now=now,
    )
    return change.id
