"""End all sessions of a person."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import SessionRevoked
from identity.domain.sessions import Revocation, revocation_of
from identity.store import sessions


@dataclass(frozen=True, slots=True)
class RevokedSessions:
    """How many sessions ended, and what was said about them."""

    count: int
    revocation: Revocation


async def revoke_sessions(
    uow: UnitOfWork, user_id: UUID, *, because: str, now: datetime, besides: UUID | None = None
) -> RevokedSessions:
    """A person is signed out everywhere, or everywhere but in the session `besides`, and every service hears of it.

    Whoever lets a person sign in again afterwards needs to do nothing: see `revocation_of`.
    """
    session_ids = await sessions.lock_sessions(uow, user_id, besides=besides)
    known = await sessions.list_last_issued(uow, session_ids)
    # A session of a further issuer was given its tokens there; when, nobody here knows.
    last_issued = {session_id: known.get(session_id, now) for session_id in session_ids}
    await sessions.revoke_sessions(uow, session_ids, now, because)
    revocation = revocation_of(last_issued, now, one_goes_on=besides is not None)
    if revocation.not_before is not None:
        uow.publish(SessionRevoked(user_id=user_id, not_before=iso(revocation.not_before)))
    for session_id in revocation.session_ids:
        uow.publish(SessionRevoked(user_id=user_id, session_id=session_id, not_before=iso(now)))
    return RevokedSessions(len(session_ids), revocation)
