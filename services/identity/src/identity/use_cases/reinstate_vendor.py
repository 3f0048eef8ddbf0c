"""Reinstate a vendor."""

from uuid import UUID

from common.database import UnitOfWork
from contracts.identity import VendorReinstated
from identity.store import vendors


async def reinstate_vendor(uow: UnitOfWork, vendor_id: UUID, reason: str | None) -> None:
    """A suspension is over, and everything that it held goes on. Repeated it changes nothing.

    Runs as the service after the caller was found to be the one to decide.
    """
    vendor = await vendors.lock_vendor(uow, vendor_id)
    if vendor.status == "active":
        return
    await vendors.save_vendor_status(uow, vendor_id, "active", None)
    uow.publish(
        VendorReinstated(
            vendor_id=vendor.id,
            owner_user_id=vendor.owner_user_id,
            business_name=vendor.business_name,
            legal_name=vendor.legal_name,
            campus_id=vendor.campus_id,
            commission_basis_points=vendor.commission_basis_points,
            reason=reason,
        )
    )
