"""Check that an alert may be assigned to a user."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.permissions import permissions_of
from notifications.deliveries.domain.errors import AssigneeNotOnCall
from notifications.deliveries.queries.contacts import find_staff_roles


async def check_assignee(uow: UnitOfWork, assignee_id: UUID) -> None:
    """Raise AssigneeNotOnCall unless the user's projected roles permit the acknowledgement of alerts."""
    if "alerts:acknowledge" not in permissions_of(await find_staff_roles(uow, assignee_id) or ()):
        raise AssigneeNotOnCall
