"""Open a hub."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.domain.campuses import NewHub, check_may_manage_campus
from identity.queries.campuses import get_campus, get_hub
from identity.store import campuses
from identity.store.staff import record_staff_action
from identity.use_cases.campuses.steps import publish_hub


async def open_hub(uow: UnitOfWork, caller: Caller, campus_id: UUID, hub: NewHub, *, now: datetime) -> UUID:
    """Open a pick-up point on the campus and return its id. Raises NotFound and AnotherCampus."""
    await get_campus(uow, campus_id)
    check_may_manage_campus(caller, campus_id)
    hub_id = new_id()
    await campuses.record_hub(uow, hub_id, campus_id, hub, now)
    detail = {"campusId": campus_id, "name": hub.name, "deliveryFeeMinor": hub.delivery_fee_minor}
    await record_staff_action(uow, "opened", "hub", hub_id, detail, by=caller.id, now=now)
    publish_hub(uow, await get_hub(uow, hub_id))
    return hub_id
