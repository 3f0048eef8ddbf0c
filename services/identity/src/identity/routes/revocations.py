"""Immediate revocation in this process, before the broker delivers the event."""

from datetime import datetime
from uuid import UUID

from identity.dependencies import Dependencies
from identity.domain.sessions import Revocation


def apply_revocation(dependencies: Dependencies, user_id: UUID, revocation: Revocation, now: datetime) -> None:
    """Reject the revoked tokens in this process from now on."""
    if revocation.not_before is not None:
        dependencies.revocations.add(user_id, None, revocation.not_before)
    for session_id in revocation.session_ids:
        dependencies.revocations.add(user_id, session_id, now)
