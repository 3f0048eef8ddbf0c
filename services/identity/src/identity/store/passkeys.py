"""Passkeys, and open challenges."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.credentials.passkeys import NewPasskey
from identity.domain.second_factors import CHALLENGE_LIFE, OPEN_CHALLENGES_MAX, Factor

Purpose = Literal["registration", "assertion"]

_RECORD_CHALLENGE: Final = """
INSERT INTO passkey_challenges (id, user_id, session_id, purpose, challenge, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_DELETE_OLD_CHALLENGES: Final = """
DELETE FROM passkey_challenges WHERE user_id = $1 AND id IN (
    SELECT id FROM passkey_challenges WHERE user_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2
)
"""
_CLAIM_CHALLENGE: Final = """
DELETE FROM passkey_challenges WHERE id = $1 AND user_id = $2 AND session_id = $3 AND purpose = $4 AND expires_at > $5
RETURNING challenge
"""
_CREDENTIAL_IDS: Final = "SELECT credential_id FROM passkeys WHERE user_id = $1 ORDER BY created_at, id"
_RECORD_PASSKEY: Final = """
INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (credential_id) DO NOTHING RETURNING true
"""
_FIND_PASSKEY: Final = """
SELECT id, public_key, sign_count FROM passkeys WHERE user_id = $1 AND credential_id = $2
"""
_SAVE_USED: Final = "UPDATE passkeys SET sign_count = $2, last_used_at = $3 WHERE id = $1"

_DELETE: Final = "DELETE FROM passkeys WHERE user_id = $1"
_DELETE_CHALLENGES: Final = "DELETE FROM passkey_challenges WHERE user_id = $1"


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey to verify an assertion with."""

    id: UUID
    public_key: bytes
    sign_count: int


async def record_challenge(
    uow: UnitOfWork,
    challenge_id: UUID,
    user_id: UUID,
    session_id: UUID,
    purpose: Purpose,
    challenge: bytes,
    now: datetime,
) -> datetime:
    """Store a challenge for a session of a user and return its expiry. Only the newest ten are kept."""
    expires_at = now + CHALLENGE_LIFE
    await uow.execute(_RECORD_CHALLENGE, challenge_id, user_id, session_id, purpose, challenge, now, expires_at)
    await uow.execute(_DELETE_OLD_CHALLENGES, user_id, OPEN_CHALLENGES_MAX)
    return expires_at


async def claim_challenge(
    uow: UnitOfWork, challenge_id: UUID, user_id: UUID, session_id: UUID, purpose: Purpose, now: datetime
) -> bytes | None:
    """Return and delete the challenge; None when it does not exist. No other transaction can use it after the
    commit.
    """
    challenge: bytes | None = await uow.fetch_value(_CLAIM_CHALLENGE, challenge_id, user_id, session_id, purpose, now)
    return challenge


async def list_credential_ids(uow: UnitOfWork, user_id: UUID) -> list[bytes]:
    return [row["credential_id"] for row in await uow.fetch(_CREDENTIAL_IDS, user_id)]


async def record_passkey_if_new(uow: UnitOfWork, user_id: UUID, factor: Factor, passkey: NewPasskey) -> bool:
    """Return False when the credential exists already, of any user."""
    values = (passkey.credential_id, passkey.public_key, passkey.sign_count, factor.name, factor.created_at)
    return bool(await uow.fetch_value(_RECORD_PASSKEY, factor.id, user_id, *values))


async def delete_passkeys(uow: UnitOfWork, user_id: UUID) -> None:
    """Delete every passkey of the user, and every challenge that could create one."""
    await uow.execute(_DELETE, user_id)
    await uow.execute(_DELETE_CHALLENGES, user_id)


async def find_passkey(uow: UnitOfWork, user_id: UUID, credential_id: bytes) -> Passkey | None:
    """Return the user's own passkey with this credential."""
    row = await uow.fetch_row(_FIND_PASSKEY, user_id, credential_id)
    return Passkey(**row) if row else None


async def save_passkey_used(uow: UnitOfWork, passkey_id: UUID, sign_count: int, now: datetime) -> None:
    await uow.execute(_SAVE_USED, passkey_id, sign_count, now)
