"""Open a campus."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.identity import CampusChanged
from identity.domain.errors import DomainInUse
from identity.store import campuses
from identity.store.staff import record_staff_action


async def open_campus(uow: UnitOfWork, caller: Caller, name: str, domain: str | None, *, now: datetime) -> UUID:
    """Open a campus before its first student and return its id. Raises DomainInUse.

    Users with an address of the institution whose first mail domain is `domain` belong to this campus.
    """
    campus_id = new_id()
    if not await campuses.record_campus_if_new(uow, campus_id, name, domain, now):
        raise DomainInUse
    await record_staff_action(
        uow, "opened", "campus", campus_id, {"name": name, "domain": domain}, by=caller.id, now=now
    )
    uow.publish(CampusChanged(campus_id=campus_id, name=name, active=True))
    return campus_id
