"""Say who a person is."""

from uuid import UUID

from common.database import UnitOfWork
from common.problems import Unauthorized
from common.standings import PersonOfOurs, ProfileMissing
from identity.queries.standings import find_standing_of


async def find_person(uow: UnitOfWork, user_id: UUID, session_id: UUID | None) -> PersonOfOurs:
    """Roles, vendor and campus of somebody whom a further issuer vouches for, at this moment.

    This is the one place that can lock such a person out. Raises ProfileMissing (403) before create-user was called, and
    Unauthorized when the session was ended.
    """
    standing = await find_standing_of(uow, user_id, session_id)
    if standing is None:
        raise ProfileMissing(user_id)
    if standing["session_ended"]:
        raise Unauthorized("The session was ended. Sign in again.")
    return PersonOfOurs(frozenset(standing["roles"]), standing["vendor_id"], standing["campus_id"])
