"""Change a vendor."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from common.problems import StaleRevision
from contracts.identity import VendorChanged
from identity.store import vendors
from identity.store.staff import record_act

_COLUMNS: Final = {
    "businessName": "business_name",
    "category": "category",
    "description": "description",
    "commissionBasisPoints": "commission_basis_points",
}


async def change_vendor(
    uow: UnitOfWork, vendor_id: UUID, changes: Mapping[str, Any], revision: int | None, *, by: UUID, now: datetime
) -> None:
    """The owner changes how the shop shows itself, the platform its commission (basis points; None: the default).

    Orders placed before keep the commission that they froze. Runs as the service after the fields were found to be `by`'s to
    change. Raises ShopClosed, and StaleRevision when the vendor has changed since `revision`.
    """
    before = await vendors.lock_vendor(uow, vendor_id)
    before.must_be_open()
    if revision is not None and revision != before.revision:
        raise StaleRevision
    wanted: dict[str, Any] = {_COLUMNS[name]: value for name, value in changes.items()}
    after = replace(before, **wanted)
    if after == before:
        return
    await vendors.save_vendor(uow, after)
    if after.commission_basis_points != before.commission_basis_points:
        await record_act(
            uow,
            actor_id=by,
            act="changed",
            subject_kind="vendor",
            subject_id=vendor_id,
            detail={
                "commissionBasisPoints": after.commission_basis_points,
                "before": before.commission_basis_points,
            },
            now=now,
        )
    uow.publish(
        VendorChanged(
            **after.told,
        )
    )
