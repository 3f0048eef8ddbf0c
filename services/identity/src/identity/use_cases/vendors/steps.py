"""Steps of vendors that several operations share."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.commission_changes import CommissionChange
from identity.domain.errors import OwnVendor
from identity.domain.vendors import Vendor
from identity.store import commission_changes, vendors
from identity.use_cases.staff.steps import lock_staff_as_admin


async def lock_commission_change(uow: UnitOfWork, caller: Caller, change_id: UUID) -> tuple[CommissionChange, Vendor]:
    """Return the change and its vendor. Raises NotFound, OwnVendor (403) and NoLongerAdmin (409)."""
    found = await commission_changes.find_change(uow, change_id)
    if found is None:
        raise NotFound
    await lock_staff_as_admin(uow, caller)
    vendor = await vendors.lock_vendor(uow, found.vendor_id)
    change = await commission_changes.find_change(uow, change_id, lock=True)
    if change is None:
        raise AssertionError("a commission change is never removed")
    if vendor.owner_user_id == caller.id:
        raise OwnVendor
    return change, vendor
