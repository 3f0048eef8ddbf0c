"""Open a hub."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.identity import HubChanged
from identity.domain.campuses import NewHub, check_may_manage_campus
from identity.queries.campuses import get_campus
from identity.store import campuses
from identity.store.staff import record_staff_action


async def open_hub(uow: UnitOfWork, caller: Caller, campus_id: UUID, hub: NewHub, *, now: datetime) -> UUID:
    """Open a pick-up point on the campus and return its id. Raises NotFound and AnotherCampus."""
    await get_campus(uow, campus_id)
    check_may_manage_campus(caller, campus_id)
    hub_id, fee = new_id(), hub.delivery_fee_minor
    await campuses.record_hub(uow, hub_id, campus_id, hub, now)
    detail = {"campusId": campus_id, "name": hub.name, "deliveryFeeMinor": fee}
    await record_staff_action(uow, "opened", "hub", hub_id, detail, by=caller.id, now=now)
    uow.publish(HubChanged(hub_id=hub_id, campus_id=campus_id, name=hub.name, delivery_fee_minor=fee, active=True))
    return hub_id
