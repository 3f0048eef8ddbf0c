"""Change how a vendor presents itself."""

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
    """Change name, category or description and publish the vendor.

    Runs as the service after the caller's right was checked. Raises VendorIsClosed, and StaleRevision when the vendor
    has changed since `revision`.
    """
    before = await vendors.lock_vendor(uow, vendor_id)
    before.check_open()
    if revision is not None and revision != before.revision:
        raise StaleRevision
    changed: dict[str, Any] = {_COLUMNS[name]: value for name, value in changes.items()}
    after = replace(before, **changed)
    if after == before:
        return
    await vendors.save_vendor(uow, after)
    uow.publish(VendorChanged(**after.event_fields))
