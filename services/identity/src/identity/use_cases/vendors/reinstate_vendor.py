"""Reinstate a vendor."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import VendorReinstated
from identity.store import vendors
from identity.store.staff import record_staff_action


async def reinstate_vendor(uow: UnitOfWork, vendor_id: UUID, reason: str | None, *, by: UUID, now: datetime) -> None:
    """Lift a vendor's suspension. Without a suspension nothing changes.

    Runs as the service after the right of `by` was checked. Raises VendorIsClosed.
    """
    vendor = await vendors.lock_vendor(uow, vendor_id)
    if not vendor.evaluate("reinstated"):
        return
    await vendors.save_vendor_status(uow, vendor_id, "active", None)
    await record_staff_action(uow, "reinstated", "vendor", vendor_id, {"reason": reason}, by=by, now=now)
    uow.publish(VendorReinstated(**vendor.event_fields, reason=reason))
