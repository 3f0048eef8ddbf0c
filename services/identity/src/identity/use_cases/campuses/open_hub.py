"""Open a hub."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.identity import HubChanged
from identity.domain.campuses import NewHub, check_may_manage_campus
from identity.queries.campuses import find_campus
from identity.store import campuses
from identity.store.staff import record_staff_action


async def open_hub(uow: UnitOfWork, caller: Caller, campus_id: UUID, hub: NewHub, *, now: datetime) -> UUID:
    """Staff open a pick-up point on their campus. Raises NotFound and AnotherCampus."""
    if await find_campus(uow, campus_id) is None:
        raise NotFound
    check_may_manage_campus(caller, campus_id)
    hub_id = new_id()
    await campuses.record_hub(uow, hub_id, campus_id, hub, now)
    await record_staff_action(
        uow,
        actor_id=caller.id,
        act="opened",
        subject_kind="hub",
        subject_id=hub_id,
        detail={"campusId": campus_id, "name": hub.name, "deliveryFeeMinor": hub.delivery_fee_minor},
        now=now,
    )
    uow.publish(
        HubChanged(
            hub_id=hub_id,
            campus_id=campus_id,
            name=hub.name,
            delivery_fee_minor=hub.delivery_fee_minor,
            active=True,
        )
    )
    return hub_id
