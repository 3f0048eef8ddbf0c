"""Revoke an API key."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import CredentialsChanged, SessionRevoked
from identity.store import api_keys
from identity.store.staff import record_staff_action


async def revoke_api_key(uow: UnitOfWork, caller: Caller, key_id: UUID, *, now: datetime) -> None:
    """Revoke a key that the caller may read; a repetition changes nothing.

    The key's tokens end as those of a session with the key's id, in every process.
    """
    creator_id = await api_keys.revoke_key(uow, key_id, by=caller.id, now=now)
    if creator_id is None:
        return
    await record_staff_action(uow, "api_key_revoked", "api_key", key_id, {}, by=caller.id, now=now)
    uow.publish(SessionRevoked(user_id=key_id, session_id=key_id, not_before=iso(now)))
    uow.publish(CredentialsChanged(user_id=creator_id, change="api_key_revoked"))
