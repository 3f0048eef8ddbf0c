"""Suspend a vendor."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import VendorSuspended
from identity.store import vendors
from identity.store.staff import record_staff_action


async def suspend_vendor(uow: UnitOfWork, vendor_id: UUID, reason: str, *, by: UUID, now: datetime) -> None:
    """A vendor sells nothing new and is paid nothing for now; open orders finish (contract section 10).

    Runs as the service after `by` was found to be the one to decide. Repeated it changes nothing: the first reason stands. Raises
    ShopClosed.
    """
    vendor = await vendors.lock_vendor(uow, vendor_id)
    vendor.check_open()
    if vendor.status == "suspended":
        return
    await vendors.save_vendor_status(uow, vendor_id, "suspended", reason)
    await record_staff_action(
        uow,
        actor_id=by,
        act="suspended",
        subject_kind="vendor",
        subject_id=vendor_id,
        detail={"reason": reason},
        now=now,
    )
    uow.publish(
        VendorSuspended(
            **vendor.told,
            reason=reason,
        )
    )
