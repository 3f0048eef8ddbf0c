"""Check that a ticket may be assigned to a user."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.permissions import permissions_of
from notifications.deliveries import find_contact, find_staff_roles
from notifications.support.domain.errors import AssigneeNotStaff, AssigneeUnknown


async def check_assignee(uow: UnitOfWork, assignee_id: UUID) -> None:
    """Raise AssigneeUnknown or AssigneeNotStaff (422) unless the user's projected roles permit ticket management.

    A user without projected roles is accepted: identity has not published them yet.
    """
    contact = await find_contact(uow, assignee_id)
    if contact is None or contact.is_erased:
        raise AssigneeUnknown
    roles = await find_staff_roles(uow, assignee_id)
    if roles is not None and "tickets:manage" not in permissions_of(roles):
        raise AssigneeNotStaff
