"""Sign-in by identity providers: flows, links to accounts, one-time codes and sessions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.oidc import ReturnAddress, Subject

_RECORD_FLOW: Final = """
INSERT INTO oidc_flows (state_hash, provider, return_to, code_challenge, expires_at) VALUES ($1, $2, $3, $4, $5)
"""
_CLAIM_FLOW: Final = """
DELETE FROM oidc_flows WHERE state_hash = $1 AND provider = $2
RETURNING return_to, code_challenge, expires_at > $3 AS is_current
"""
_FIND_LINK: Final = "SELECT user_id FROM oidc_links WHERE issuer = $1 AND sub = $2"
# A concurrent sign-in of the same user waits here, and then finds its link.
_RECORD_LINK: Final = """
INSERT INTO oidc_links (issuer, sub, user_id, linked_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
"""
_RECORD_CODE: Final = """
INSERT INTO oidc_codes (code_hash, user_id, issuer, sub, sid, stepped_up_at, code_challenge, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
_CLAIM_CODE: Final = """
DELETE FROM oidc_codes WHERE code_hash = $1
RETURNING user_id, issuer, sub, sid, stepped_up_at, code_challenge, expires_at
"""
_RECORD_SESSION: Final = "INSERT INTO oidc_sessions (session_id, issuer, sub, sid) VALUES ($1, $2, $3, $4)"
_RECORD_LOGOUT: Final = """
INSERT INTO oidc_logouts (token_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING true
"""
# A token with both names a session of the user. Sessions without a known session of the provider end with the user's.
_OF_LOGOUT: Final = """
issuer = $1 AND ($2::text IS NULL OR sub = $2)
    AND ($3::text IS NULL OR sid = $3 OR (sid IS NULL AND $2::text IS NOT NULL))
"""
_DELETE_CODES: Final = f"DELETE FROM oidc_codes WHERE {_OF_LOGOUT}"
# In a fixed order, so that two transactions that end the same sessions cannot deadlock.
_LOCK_SESSIONS: Final = f"""
SELECT id, user_id FROM sessions
WHERE ended_at IS NULL AND id IN (SELECT session_id FROM oidc_sessions WHERE {_OF_LOGOUT}) ORDER BY id FOR UPDATE
"""


@dataclass(frozen=True, slots=True)
class StoredCode:
    """A one-time code with the user and the provider's session that it stands for."""

    user_id: UUID
    subject: Subject
    stepped_up_at: datetime | None
    code_challenge: str | None
    expires_at: datetime


async def record_flow(
    uow: UnitOfWork, state_hash: bytes, provider: str, return_to: ReturnAddress, expires_at: datetime
) -> None:
    await uow.execute(_RECORD_FLOW, state_hash, provider, return_to.url, return_to.code_challenge, expires_at)


async def claim_flow(uow: UnitOfWork, state_hash: bytes, provider: str, now: datetime) -> ReturnAddress | None:
    """Delete the flow and return its page; None for an unknown, used or expired one, and one of another provider."""
    row = await uow.fetch_row(_CLAIM_FLOW, state_hash, provider, now)
    return ReturnAddress(row["return_to"], row["code_challenge"]) if row and row["is_current"] else None


async def find_linked_user(uow: UnitOfWork, subject: Subject) -> UUID | None:
    user_id: UUID | None = await uow.fetch_value(_FIND_LINK, subject.issuer, subject.sub)
    return user_id


async def record_link_if_new(uow: UnitOfWork, subject: Subject, user_id: UUID, now: datetime) -> None:
    """Link the account, unless it or the provider's user has another link."""
    await uow.execute(_RECORD_LINK, subject.issuer, subject.sub, user_id, now)


async def record_code(uow: UnitOfWork, code_hash: bytes, code: StoredCode) -> None:
    subject = (code.subject.issuer, code.subject.sub, code.subject.sid)
    times = (code.stepped_up_at, code.code_challenge, code.expires_at)
    await uow.execute(_RECORD_CODE, code_hash, code.user_id, *subject, *times)


async def claim_code(uow: UnitOfWork, code_hash: bytes) -> StoredCode | None:
    """Delete and return the code. Of two exchanges of one code the second finds none."""
    row = await uow.fetch_row(_CLAIM_CODE, code_hash)
    if row is None:
        return None
    subject = Subject(row["issuer"], row["sub"], row["sid"])
    return StoredCode(row["user_id"], subject, row["stepped_up_at"], row["code_challenge"], row["expires_at"])


async def record_oidc_session(uow: UnitOfWork, session_id: UUID, subject: Subject) -> None:
    await uow.execute(_RECORD_SESSION, session_id, subject.issuer, subject.sub, subject.sid)


async def record_logout_if_new(uow: UnitOfWork, token_hash: bytes, expires_at: datetime) -> bool:
    """Return False when the logout token was used before."""
    return bool(await uow.fetch_value(_RECORD_LOGOUT, token_hash, expires_at))


async def delete_codes(uow: UnitOfWork, issuer: str, sub: str | None, sid: str | None) -> None:
    """Delete the codes of a provider's user or session that are not exchanged yet; waits for running exchanges."""
    await uow.execute(_DELETE_CODES, issuer, sub, sid)


async def lock_oidc_sessions(uow: UnitOfWork, issuer: str, sub: str | None, sid: str | None) -> list[tuple[UUID, UUID]]:
    """Return the active sessions of a provider's user or session with their users. Call `delete_codes` before."""
    return [(row["id"], row["user_id"]) for row in await uow.fetch(_LOCK_SESSIONS, issuer, sub, sid)]
