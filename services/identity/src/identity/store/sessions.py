# ruff: noqa: S105 - statements about tokens and password hashes are no passwords
"""Sessions and their refresh tokens."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from identity.domain.sessions import ShownToken
from identity.domain.standing import SignIn

_RECORD_SESSION: Final = "INSERT INTO sessions (id, user_id, signed_in_at) VALUES ($1, $2, $3)"
_RECORD_REFRESH_TOKEN: Final = """
INSERT INTO refresh_tokens (token_hash, session_id, stepped_up_at, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)
"""
# The session's row is the lock of its family: of two exchanges of one token the second sees that it was used.
_LOCK_SESSION_OF_TOKEN: Final = """
SELECT s.id FROM sessions s
WHERE s.id = (SELECT session_id FROM refresh_tokens WHERE token_hash = $1) FOR UPDATE
"""
_FIND_REFRESH_TOKEN: Final = """
SELECT t.session_id, s.user_id, s.signed_in_at, t.stepped_up_at, t.expires_at, t.used_at,
    s.ended_at IS NOT NULL AS session_ended
FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id WHERE t.token_hash = $1
"""
_MARK_REFRESH_TOKEN_USED: Final = "UPDATE refresh_tokens SET used_at = $2 WHERE token_hash = $1"
_LOCK_SESSION: Final = """
SELECT signed_in_at FROM sessions WHERE id = $1 AND user_id = $2 AND ended_at IS NULL FOR UPDATE
"""
_END_SESSION: Final = """
UPDATE sessions SET ended_at = $3, ended_because = $4 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL RETURNING true
"""
# A session without tokens can be neither refreshed nor stepped up; its last access token ended long before.
_FORGET_EXPIRED_REFRESH_TOKENS: Final = """
DELETE FROM refresh_tokens WHERE token_hash IN (
    SELECT token_hash FROM refresh_tokens WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
)
"""
_FORGET_EMPTY_SESSIONS: Final = """
DELETE FROM sessions WHERE id IN (
    SELECT s.id FROM sessions s
    WHERE s.signed_in_at <= $1 AND NOT EXISTS (SELECT FROM refresh_tokens t WHERE t.session_id = s.id)
    LIMIT $2 FOR UPDATE SKIP LOCKED
)
"""


async def record_session(uow: UnitOfWork, user_id: UUID, sign_in: SignIn) -> None:
    await uow.execute(_RECORD_SESSION, sign_in.session_id, user_id, sign_in.signed_in_at)


async def record_refresh_token(
    uow: UnitOfWork, token_hash: bytes, sign_in: SignIn, *, issued_at: datetime, expires_at: datetime
) -> None:
    values = (token_hash, sign_in.session_id, sign_in.stepped_up_at, issued_at, expires_at)
    await uow.execute(_RECORD_REFRESH_TOKEN, *values)


async def lock_refresh_token(uow: UnitOfWork, token_hash: bytes) -> ShownToken | None:
    """The token with its session, whose row stays locked until the transaction ends."""
    if await uow.fetch_value(_LOCK_SESSION_OF_TOKEN, token_hash) is None:
        return None
    # A second statement: under READ COMMITTED it sees what the one that held the lock before has committed.
    row = await uow.fetch_row(_FIND_REFRESH_TOKEN, token_hash)
    return ShownToken(**row) if row else None


async def mark_refresh_token_used(uow: UnitOfWork, token_hash: bytes, now: datetime) -> None:
    await uow.execute(_MARK_REFRESH_TOKEN_USED, token_hash, now)


async def lock_session(uow: UnitOfWork, session_id: UUID, user_id: UUID) -> SignIn | None:
    """The user's session while it lasts, locked until the transaction ends."""
    signed_in_at = await uow.fetch_value(_LOCK_SESSION, session_id, user_id)
    return SignIn(session_id, signed_in_at) if signed_in_at else None


async def end_session_once(uow: UnitOfWork, session_id: UUID, user_id: UUID, now: datetime, because: str) -> bool:
    """Whether this ended the session; otherwise it had ended before."""
    return bool(await uow.fetch_value(_END_SESSION, session_id, user_id, now, because))


async def forget_expired_refresh_tokens(uow: UnitOfWork, now: datetime, rows_max: int) -> int:
    return await uow.execute(_FORGET_EXPIRED_REFRESH_TOKENS, now, rows_max)


async def forget_empty_sessions(uow: UnitOfWork, now: datetime, rows_max: int) -> int:
    """Sessions begun in this very moment have their first token in the same transaction."""
    return await uow.execute(_FORGET_EMPTY_SESSIONS, now, rows_max)
