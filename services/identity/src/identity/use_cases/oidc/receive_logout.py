"""End the sessions of a provider's sign-out."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import SessionRevoked
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.oidc_tokens import Logout
from identity.store import oidc, sessions


async def receive_logout(
    uow: UnitOfWork, hashes: KeyedHashes, logout: Logout, *, now: datetime
) -> list[tuple[UUID, UUID]] | None:
    """End and return the sessions with their users, and publish the revocations; None for a token that was used."""
    token_hash = hashes.of("oidc_logout", logout.issuer, logout.token_id)
    if not await oidc.record_logout_if_new(uow, token_hash, logout.expires_at):
        return None
    await oidc.delete_codes(uow, logout.issuer, logout.sub, logout.sid)
    ended = await oidc.lock_oidc_sessions(uow, logout.issuer, logout.sub, logout.sid)
    await sessions.revoke_sessions(uow, [session_id for session_id, _ in ended], now, "signed_out_at_provider")
    for session_id, user_id in ended:
        uow.publish(SessionRevoked(user_id=user_id, session_id=session_id, not_before=iso(now)))
    return ended
