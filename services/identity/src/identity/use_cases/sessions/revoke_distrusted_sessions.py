"""Revoke the sessions of issuers that are no longer trusted."""

from collections.abc import Collection
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import SessionRevoked
from identity.store import sessions


async def revoke_distrusted_sessions(
    uow: UnitOfWork, issuers: Collection[str], staff_issuers: Collection[str], *, now: datetime
) -> int:
    """End sessions of issuers that TRUSTED_ISSUERS no longer lists, and staff sessions of issuers without that right.

    Their refresh tokens would otherwise live for a month. Returns the number of sessions.
    """
    revoked = await sessions.revoke_distrusted(uow, list(issuers), list(staff_issuers), now)
    for session_id, user_id in revoked:
        uow.publish(SessionRevoked(user_id=user_id, session_id=session_id, not_before=iso(now)))
    return len(revoked)
