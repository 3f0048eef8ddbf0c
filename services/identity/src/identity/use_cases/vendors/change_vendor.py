"""Change how a vendor presents itself."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.problems import StaleRevision
from contracts.identity import VendorAway, VendorChanged, VendorReturned
from identity.domain.vendors import Vendor, check_absence
from identity.store import vendors

_COLUMNS: Final = {
    "businessName": "business_name",
    "category": "category",
    "description": "description",
    "openingHours": "opening_hours",
}


async def change_vendor(
    uow: UnitOfWork, vendor_id: UUID, changes: Mapping[str, Any], revision: int | None, *, now: datetime
) -> None:
    """Change how the shop shows itself, its absence or its hours, and publish the vendor.

    Runs as the service after the caller's right was checked. Raises VendorIsClosed, InvalidAbsence, and StaleRevision
    when the vendor has changed since `revision`.
    """
    before = await vendors.lock_vendor(uow, vendor_id)
    before.check_open()
    if revision is not None and revision != before.revision:
        raise StaleRevision
    changed: dict[str, Any] = {_COLUMNS[name]: value for name, value in changes.items() if name in _COLUMNS}
    if "away" in changes:
        away = changes["away"] or {}
        changed |= {"absent_until": away.get("until"), "absence_message": away.get("message")}
        if away:
            check_absence(away["until"], now)
    after = replace(before, **changed)
    if after == before:
        return
    await vendors.save_vendor(uow, after)
    uow.publish(VendorChanged(**after.event_fields))
    if after.absent_until != before.absent_until:
        _publish_absence(uow, after, was_absent=before.absent_until is not None and before.absent_until > now)


def _publish_absence(uow: UnitOfWork, vendor: Vendor, *, was_absent: bool) -> None:
    """Publish the absence that begins or changes, or the end of one that was not over."""
    if vendor.absent_until is not None:
        uow.publish(VendorAway(vendor_id=vendor.id, owner_user_id=vendor.owner_user_id, until=iso(vendor.absent_until)))
    elif was_absent:
        uow.publish(VendorReturned(vendor_id=vendor.id, owner_user_id=vendor.owner_user_id))
