# ruff: noqa: S105 - statements about tokens and password hashes are no passwords
"""Sessions and their refresh tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.authorization_profile import SignIn
from identity.domain.sessions import StoredRefreshToken

_RECORD_SESSION: Final = """
INSERT INTO sessions (id, user_id, signed_in_at, method, user_agent) VALUES ($1, $2, $3, $4, $5)
"""
_RECORD_FOREIGN_SESSION: Final = """
INSERT INTO sessions (id, user_id, signed_in_at, method, issuer, without_staff_roles)
VALUES ($1, $2, $3, 'external', $4, $5)
ON CONFLICT (id) DO NOTHING
"""
_WITHOUT_STAFF_ROLES: Final = "SELECT without_staff_roles FROM sessions WHERE id = $1"
_END_FOREIGN_SESSIONS: Final = """
UPDATE sessions SET ended_at = $3, ended_because = 'issuer_no_longer_trusted'
WHERE issuer IS NOT NULL AND ended_at IS NULL
    AND (issuer <> ALL ($1::text[]) OR (NOT without_staff_roles AND issuer <> ALL ($2::text[])))
RETURNING id, user_id
"""
_RECORD_REFRESH_TOKEN: Final = """
INSERT INTO refresh_tokens (
    token_hash, session_id, stepped_up_at, stepped_up_by, stepped_up_factor_id, issued_at, expires_at
) VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
# The session's row locks all its tokens: of two exchanges of one token the second finds it used.
_LOCK_SESSION_OF_TOKEN: Final = """
SELECT s.id FROM sessions s
WHERE s.id = (SELECT session_id FROM refresh_tokens WHERE token_hash = $1) FOR UPDATE
"""
_FIND_REFRESH_TOKEN: Final = """
SELECT t.session_id, s.user_id, s.signed_in_at, s.method, t.stepped_up_at, t.expires_at, t.used_at,
    s.ended_at IS NOT NULL AS session_revoked, t.stepped_up_by, t.stepped_up_factor_id
FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id WHERE t.token_hash = $1
"""
_MARK_REFRESH_TOKEN_USED: Final = "UPDATE refresh_tokens SET used_at = $2 WHERE token_hash = $1"
_LOCK_SESSION: Final = """
SELECT signed_in_at, method FROM sessions WHERE id = $1 AND user_id = $2 AND ended_at IS NULL FOR UPDATE
"""
# In a fixed order, so that two transactions that end the same sessions cannot deadlock.
_LOCK_SESSIONS: Final = """
SELECT id FROM sessions WHERE user_id = $1 AND ended_at IS NULL AND id IS DISTINCT FROM $2 ORDER BY id FOR UPDATE
"""
_LAST_ISSUED: Final = """
SELECT session_id, max(issued_at) AS issued_at FROM refresh_tokens WHERE session_id = ANY ($1::uuid[])
GROUP BY session_id
"""
_END_SESSIONS: Final = "UPDATE sessions SET ended_at = $2, ended_because = $3 WHERE id = ANY ($1::uuid[])"
_END_SESSION: Final = """
UPDATE sessions SET ended_at = $3, ended_because = $4 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL RETURNING true
"""
_CLEAR_STEP_UPS: Final = """
UPDATE refresh_tokens SET stepped_up_at = NULL, stepped_up_by = NULL, stepped_up_factor_id = NULL
WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1) AND stepped_up_at IS NOT NULL
    AND ($2::uuid IS NULL OR stepped_up_factor_id = $2)
"""


async def record_session(uow: UnitOfWork, user_id: UUID, sign_in: SignIn, user_agent: str | None = None) -> None:
    values = (sign_in.session_id, user_id, sign_in.signed_in_at, sign_in.method, user_agent)
    await uow.execute(_RECORD_SESSION, *values)


async def record_federated_session_if_new(
    uow: UnitOfWork, session_id: UUID, user_id: UUID, signed_in_at: datetime, *, issuer: str, without_staff_roles: bool
) -> None:
    """Record the session of a further issuer's token, unless it exists."""
    await uow.execute(_RECORD_FOREIGN_SESSION, session_id, user_id, signed_in_at, issuer, without_staff_roles)


async def is_without_staff_roles(uow: UnitOfWork, session_id: UUID) -> bool:
    return bool(await uow.fetch_value(_WITHOUT_STAFF_ROLES, session_id))


async def revoke_distrusted(
    uow: UnitOfWork, issuers: Sequence[str], staff_issuers: Sequence[str], now: datetime
) -> list[tuple[UUID, UUID]]:
    """End the sessions that the current issuers could not create; return their ids and users."""
    rows = await uow.fetch(_END_FOREIGN_SESSIONS, list(issuers), list(staff_issuers), now)
    return [(row["id"], row["user_id"]) for row in rows]


async def record_refresh_token(
    uow: UnitOfWork, token_hash: bytes, sign_in: SignIn, *, issued_at: datetime, expires_at: datetime
) -> None:
    step_up = (sign_in.stepped_up_at, sign_in.stepped_up_by, sign_in.stepped_up_factor_id)
    await uow.execute(_RECORD_REFRESH_TOKEN, token_hash, sign_in.session_id, *step_up, issued_at, expires_at)


async def lock_refresh_token(uow: UnitOfWork, token_hash: bytes) -> StoredRefreshToken | None:
    """Return the token with its session, whose row stays locked until the transaction ends."""
    if await uow.fetch_value(_LOCK_SESSION_OF_TOKEN, token_hash) is None:
        return None
    # A second statement: under READ COMMITTED it sees what the previous holder of the lock committed.
    return await find_refresh_token(uow, token_hash)


async def find_refresh_token(uow: UnitOfWork, token_hash: bytes) -> StoredRefreshToken | None:
    """Return another token of a session that the caller has locked."""
    row = await uow.fetch_row(_FIND_REFRESH_TOKEN, token_hash)
    return StoredRefreshToken(**row) if row else None


async def mark_refresh_token_used(uow: UnitOfWork, token_hash: bytes, now: datetime) -> None:
    await uow.execute(_MARK_REFRESH_TOKEN_USED, token_hash, now)


async def lock_session(uow: UnitOfWork, session_id: UUID, user_id: UUID) -> SignIn | None:
    """Return the user's active session, locked until the transaction ends."""
    row = await uow.fetch_row(_LOCK_SESSION, session_id, user_id)
    return SignIn(session_id, row["signed_in_at"], method=row["method"]) if row else None


async def revoke_session_if_active(
    uow: UnitOfWork, session_id: UUID, user_id: UUID, now: datetime, because: str
) -> bool:
    """Return False when the session had ended before."""
    return bool(await uow.fetch_value(_END_SESSION, session_id, user_id, now, because))


async def lock_sessions(uow: UnitOfWork, user_id: UUID, *, besides: UUID | None) -> list[UUID]:
    """Lock the user's active sessions except `besides`: none gets new tokens until the transaction ends."""
    return [row["id"] for row in await uow.fetch(_LOCK_SESSIONS, user_id, besides)]


async def list_last_issued(uow: UnitOfWork, session_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """Return when each session last got tokens. Call `lock_sessions` before."""
    return {row["session_id"]: row["issued_at"] for row in await uow.fetch(_LAST_ISSUED, list(session_ids))}


async def revoke_sessions(uow: UnitOfWork, session_ids: Sequence[UUID], now: datetime, because: str) -> None:
    await uow.execute(_END_SESSIONS, list(session_ids), now, because)


async def clear_step_ups(uow: UnitOfWork, user_id: UUID, factor_id: UUID | None) -> None:
    """Remove the step-up by this factor, or by any (None), from the user's refresh tokens.

    Call `lock_sessions` before: a concurrent refresh would copy the step-up into a new token.
    """
    await uow.execute(_CLEAR_STEP_UPS, user_id, factor_id)
