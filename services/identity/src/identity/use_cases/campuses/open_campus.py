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
    """The platform opens a campus before its first student comes. `domain` is the first mail domain of a known institution:
    whoever signs up there belongs to this campus. Raises DomainTaken."""
    campus_id = new_id()
    if not await campuses.record_campus_if_new(uow, campus_id, name, domain, now):
        raise DomainInUse
    await record_staff_action(
        uow,
        actor_id=caller.id,
        act="opened",
        subject_kind="campus",
        subject_id=campus_id,
        detail={"name": name, "domain": domain},
        now=now,
    )
    uow.publish(CampusChanged(campus_id=campus_id, name=name, active=True))
    return campus_id
