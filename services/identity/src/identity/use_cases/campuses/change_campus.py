"""Change a campus."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound, StaleRevision
from contracts.identity import CampusChanged
from identity.domain.campuses import check_may_manage_campus
from identity.queries.campuses import find_campus
from identity.store import campuses
from identity.store.staff import record_staff_action


async def change_campus(
    uow: UnitOfWork, caller: Caller, campus_id: UUID, changes: Mapping[str, Any], revision: int | None, *, now: datetime
) -> None:
    """Staff rename, close or reopen their campus (`name`, `active`); it is never deleted, because orders point at it.

    Raises NotFound, AnotherCampus, and StaleRevision when it has changed since `revision` or changes meanwhile.
    """
    before = await find_campus(uow, campus_id)
    if before is None:
        raise NotFound
    check_may_manage_campus(caller, campus_id)
    if revision is not None and revision != before["revision"]:
        raise StaleRevision
    name, active = changes.get("name", before["name"]), changes.get("active", before["active"])
    if (name, active) == (before["name"], before["active"]):
        return
    if not await campuses.save_campus(uow, campus_id, before["revision"], name=name, active=active):
        raise StaleRevision
    await record_staff_action(
        uow,
        actor_id=caller.id,
        act="changed",
        subject_kind="campus",
        subject_id=campus_id,
        detail={"name": name, "active": active},
        now=now,
    )
    uow.publish(CampusChanged(campus_id=campus_id, name=name, active=active))
