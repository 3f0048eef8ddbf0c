"""Change a hub."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound, StaleRevision
from contracts.identity import HubChanged
from identity.domain.campuses import check_may_manage_campus
from identity.queries.campuses import find_hub
from identity.store import campuses
from identity.store.staff import record_staff_action

_COLUMNS = {"name": "name", "address": "address", "deliveryFeeMinor": "delivery_fee_minor", "active": "active"}


async def change_hub(
    uow: UnitOfWork, caller: Caller, hub_id: UUID, changes: Mapping[str, Any], revision: int | None, *, now: datetime
) -> None:
    """Staff change a pick-up point of their campus, its fee (kobo), or close it; orders placed before keep what they froze.

    Raises NotFound, AnotherCampus, and StaleRevision when it has changed since `revision` or changes meanwhile.
    """
    before = await find_hub(uow, hub_id)
    if before is None:
        raise NotFound
    check_may_manage_campus(caller, before["campus_id"])
    if revision is not None and revision != before["revision"]:
        raise StaleRevision
    after = {column: changes.get(name, before[column]) for name, column in _COLUMNS.items()}
    if all(after[column] == before[column] for column in after):
        return
    if not await campuses.save_hub(uow, hub_id, before["revision"], **after):
        raise StaleRevision
    await record_staff_action(
        uow,
        actor_id=caller.id,
        act="changed",
        subject_kind="hub",
        subject_id=hub_id,
        detail={name: after[column] for name, column in _COLUMNS.items()},
        now=now,
    )
    uow.publish(
        HubChanged(
            hub_id=hub_id,
            campus_id=before["campus_id"],
            name=after["name"],
            delivery_fee_minor=after["delivery_fee_minor"],
            active=after["active"],
        )
    )
