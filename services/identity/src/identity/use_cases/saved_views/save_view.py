"""Save a view."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from identity.domain.errors import DuplicateViewName, TooManySavedViews
from identity.domain.saved_views import VIEWS_MAX, ViewContent
from identity.store import erasure, saved_views


async def save_view(uow: UnitOfWork, caller: Caller, view: ViewContent, *, now: datetime) -> UUID:
    """Save a view of the own account and return its id. The lock of the person bounds their number.

    Raises DuplicateViewName and TooManySavedViews (409), NotFound for an erased account.
    """
    if await erasure.lock_user(uow, caller.id) is None:
        raise NotFound
    if await saved_views.count_views(uow, caller.id) >= VIEWS_MAX:
        raise TooManySavedViews
    view_id = new_id()
    if not await saved_views.record_view_if_new(uow, view_id, caller.id, view, now):
        raise DuplicateViewName
    return view_id
