"""Reinstate a vendor."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import VendorReinstated
from identity.store import vendors
from identity.store.staff import record_staff_action


async def reinstate_vendor(uow: UnitOfWork, vendor_id: UUID, reason: str | None, *, by: UUID, now: datetime) -> None:
    """A suspension is over, and everything that it held goes on. Repeated it changes nothing.

    Runs as the service after `by` was found to be the one to decide. Raises ShopClosed.
    """
    vendor = await vendors.lock_vendor(uow, vendor_id)
    vendor.check_open()
    if vendor.status == "active":
        return
    await vendors.save_vendor_status(uow, vendor_id, "active", None)
    await record_staff_action(
        uow,
        actor_id=by,
        act="reinstated",
        subject_kind="vendor",
        subject_id=vendor_id,
        detail={"reason": reason},
        now=now,
    )
    uow.publish(
        VendorReinstated(
            **vendor.told,
            reason=reason,
        )
    )
