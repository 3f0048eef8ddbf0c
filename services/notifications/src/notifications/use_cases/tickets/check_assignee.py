"""Check that a ticket may be given to a person."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.permissions import permissions_of
from notifications.domain.errors import AssigneeNotStaff, AssigneeUnknown
from notifications.queries.contacts import find_contact, find_staff_roles


async def check_assignee(uow: UnitOfWork, assignee_id: UUID) -> None:
    """Raises AssigneeUnknown and AssigneeNotStaff (422) unless the person may handle tickets, as far as identity told.

    Of somebody whose roles it has not spoken of since it tells them, nothing is held against them.
    """
    contact = await find_contact(uow, assignee_id)
    if contact is None or contact.is_erased:
        raise AssigneeUnknown
    roles = await find_staff_roles(uow, assignee_id)
    if roles is not None and "tickets:manage" not in permissions_of(roles):
        raise AssigneeNotStaff
