"""Change a campus."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import StaleRevision
from contracts.identity import CampusChanged
from identity.domain.campuses import check_may_manage_campus
from identity.queries.campuses import get_campus
from identity.store import campuses
from identity.store.staff import record_staff_action


async def change_campus(
    uow: UnitOfWork, caller: Caller, campus_id: UUID, changes: Mapping[str, Any], revision: int | None, *, now: datetime
) -> None:
    """Rename, close or reopen a campus (`name`, `active`). A campus is never deleted, because orders refer to it.

    Raises NotFound, AnotherCampus, and StaleRevision when it has changed since `revision` or changes concurrently.
    """
    before = await get_campus(uow, campus_id)
    check_may_manage_campus(caller, campus_id)
    if revision is not None and revision != before.revision:
        raise StaleRevision
    name, active = changes.get("name", before.name), changes.get("active", before.active)
    if (name, active) == (before.name, before.active):
        return
    if not await campuses.save_campus(uow, campus_id, before.revision, name=name, active=active):
        raise StaleRevision
    detail = {"name": name, "active": active}
    await record_staff_action(uow, "changed", "campus", campus_id, detail, by=caller.id, now=now)
    uow.publish(CampusChanged(campus_id=campus_id, name=name, active=active))
