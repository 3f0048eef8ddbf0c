"""End all sessions of a user."""

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
    """The number of ended sessions, and their revocation."""

    count: int
    revocation: Revocation


async def revoke_sessions(
    uow: UnitOfWork, user_id: UUID, *, because: str, now: datetime, besides: UUID | None = None
) -> RevokedSessions:
    """End the user's sessions, except `besides`, and publish the revocation.

    A login directly after it stays valid: see `revocation_of`.
    """
    session_ids = await sessions.lock_sessions(uow, user_id, besides=besides)
    known = await sessions.list_last_issued(uow, session_ids)
    # A further issuer issues the tokens of its sessions; the time of the last one is unknown here.
    last_issued = {session_id: known.get(session_id, now) for session_id in session_ids}
    await sessions.revoke_sessions(uow, session_ids, now, because)
    revocation = revocation_of(last_issued, now, one_goes_on=besides is not None)
    if revocation.not_before is not None:
        uow.publish(SessionRevoked(user_id=user_id, not_before=iso(revocation.not_before)))
    for session_id in revocation.session_ids:
        uow.publish(SessionRevoked(user_id=user_id, session_id=session_id, not_before=iso(now)))
    return RevokedSessions(len(session_ids), revocation)
