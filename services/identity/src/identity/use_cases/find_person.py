"""Say who a person is."""

from uuid import UUID

from common.database import UnitOfWork
from common.problems import Unauthorized
from common.standings import PersonOfOurs, ProfileMissing
from identity.queries.standings import is_session_ended
from identity.store import accounts


async def find_person(uow: UnitOfWork, user_id: UUID, session_id: UUID | None) -> PersonOfOurs:
    """Roles, vendor and campus of somebody whom a further issuer vouches for, at this moment.

    This is the one place that can lock such a person out. Raises ProfileMissing (403) before create-user was called, and
    Unauthorized when the session was ended or the person is suspended.
    """
    session_ended = await is_session_ended(uow, user_id, session_id)
    if session_ended is None:
        raise ProfileMissing(user_id)
    if session_ended:
        raise Unauthorized("The session was ended. Sign in again.")
    standing = await accounts.find_standing(uow, user_id)
    if standing.is_suspended:
        raise Unauthorized
    return PersonOfOurs(frozenset(standing.roles), standing.vendor_id, standing.campus_id)
