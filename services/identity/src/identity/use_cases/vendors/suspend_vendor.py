"""Suspend a vendor."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import VendorSuspended
from identity.store import vendors
from identity.store.staff import record_staff_action


async def suspend_vendor(uow: UnitOfWork, vendor_id: UUID, reason: str, *, by: UUID, now: datetime) -> None:
    """Stop new sales and payouts of a vendor; open orders continue (contract section 10). The first reason stays.

    Runs as the service after the right of `by` was checked. Raises VendorIsClosed.
    """
    vendor = await vendors.lock_vendor(uow, vendor_id)
    if not vendor.evaluate("suspended"):
        return
    await vendors.save_vendor_status(uow, vendor_id, "suspended", reason)
    await record_staff_action(uow, "suspended", "vendor", vendor_id, {"reason": reason}, by=by, now=now)
    uow.publish(VendorSuspended(**vendor.event_fields, reason=reason))
