"""Rename a saved view."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.errors import DuplicateViewName
from identity.store import erasure, saved_views


async def rename_view(uow: UnitOfWork, caller: Caller, view_id: UUID, name: str) -> None:
    """Name a view of the own account. Raises NotFound, DuplicateViewName (409)."""
    if await erasure.lock_user(uow, caller.id) is None or await saved_views.find_view(uow, view_id, caller.id) is None:
        raise NotFound
    if not await saved_views.save_name(uow, view_id, caller.id, name):
        raise DuplicateViewName
