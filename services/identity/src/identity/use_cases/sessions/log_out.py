"""End a session."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import SessionRevoked
from identity.store import sessions


async def log_out(uow: UnitOfWork, user_id: UUID, session_id: UUID, *, now: datetime) -> bool:
    """End a session of the user and publish the revocation. Return False without such an active session."""
    revoked = await sessions.revoke_session_if_active(uow, session_id, user_id, now, "logged_out")
    if revoked:
        uow.publish(SessionRevoked(user_id=user_id, session_id=session_id, not_before=iso(now)))
    return revoked
