"""End what further issuers gave who are no longer trusted as they were."""

from collections.abc import Collection
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import SessionRevoked
from identity.store import sessions


async def revoke_distrusted_sessions(
    uow: UnitOfWork, issuers: Collection[str], staff_issuers: Collection[str], *, now: datetime
) -> int:
    """Sessions of issuers that TRUSTED_ISSUERS lists no longer end, and those with roles of staff whose issuer lost the right
    to speak about staff: their refresh tokens would outlive that by a month. Tells how many ended."""
    ended = await sessions.revoke_distrusted(uow, list(issuers), list(staff_issuers), now)
    for session_id, user_id in ended:
        uow.publish(SessionRevoked(user_id=user_id, session_id=session_id, not_before=iso(now)))
    return len(ended)
