"""Change a vendor."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import StaleRevision
from contracts.identity import VendorChanged
from identity.store import vendors

_COLUMNS: Final = {
    "businessName": "business_name",
    "category": "category",
    "description": "description",
}


async def change_vendor(uow: UnitOfWork, vendor_id: UUID, changes: Mapping[str, Any], revision: int | None) -> None:
    """The owner changes how the shop shows itself.

    Runs as the service after the fields were found to be the caller's to change. Raises ShopClosed, and StaleRevision when the vendor
    has changed since `revision`.
    """
    before = await vendors.lock_vendor(uow, vendor_id)
    before.check_open()
    if revision is not None and revision != before.revision:
        raise StaleRevision
    wanted: dict[str, Any] = {_COLUMNS[name]: value for name, value in changes.items()}
    after = replace(before, **wanted)
    if after == before:
        return
    await vendors.save_vendor(uow, after)
    uow.publish(
        VendorChanged(
            **after.told,
        )
    )
