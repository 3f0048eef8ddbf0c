"""Change a hub."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import StaleRevision
from identity.domain.campuses import NewHub, check_may_manage_campus
from identity.queries.campuses import get_hub
from identity.store import campuses
from identity.store.staff import record_staff_action
from identity.use_cases.campuses.steps import publish_hub


async def change_hub(
    uow: UnitOfWork, caller: Caller, hub_id: UUID, changes: Mapping[str, Any], revision: int | None, *, now: datetime
) -> None:
    """Change name, address, fee (kobo) or hours of a hub, or close it. Placed orders keep the fee that they froze.

    Raises NotFound, AnotherCampus, and StaleRevision when it has changed since `revision` or changes concurrently.
    """
    before = await get_hub(uow, hub_id)
    check_may_manage_campus(caller, before.campus_id)
    if revision is not None and revision != before.revision:
        raise StaleRevision
    after = replace(
        before,
        name=changes.get("name", before.name),
        address=changes.get("address", before.address),
        delivery_fee_minor=changes.get("deliveryFeeMinor", before.delivery_fee_minor),
        active=changes.get("active", before.active),
        opening_hours=changes.get("openingHours", before.opening_hours),
    )
    if after == before:
        return
    fee = after.delivery_fee_minor
    hub = NewHub(after.name, after.address, fee, after.opening_hours)
    if not await campuses.save_hub(uow, hub_id, before.revision, hub, active=after.active):
        raise StaleRevision
    detail = {"name": after.name, "address": after.address, "deliveryFeeMinor": fee, "active": after.active}
    await record_staff_action(uow, "changed", "hub", hub_id, detail, by=caller.id, now=now)
    publish_hub(uow, after)
