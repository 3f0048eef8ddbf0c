"""Delete a saved view."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.store import saved_views


async def delete_view(uow: UnitOfWork, caller: Caller, view_id: UUID) -> None:
    """Delete a view of the own account. Raises NotFound."""
    if not await saved_views.delete_view(uow, view_id, caller.id):
        raise NotFound
