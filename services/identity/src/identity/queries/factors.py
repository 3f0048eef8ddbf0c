"""A user's own second factors and recovery codes, without secrets.

No caller may read these tables. The endpoints read them as the service, and each statement names the user of the token.
"""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.second_factors import Factor
from identity.responses.factors import RecoveryCodeCount

# Each kind is bounded, and a user has at most one unconfirmed factor.
_LIST_OWN: Final = """
SELECT id, 'totp' AS kind, name, created_at, last_used_at, confirmed_at IS NOT NULL AS confirmed
FROM totp_factors WHERE user_id = $1
UNION ALL
SELECT id, 'passkey', name, created_at, last_used_at, true FROM passkeys WHERE user_id = $1
ORDER BY created_at, id
"""
_REMAINING: Final = """
SELECT count(*) FILTER (WHERE used_at IS NULL) AS remaining, max(created_at) AS created_at
FROM recovery_codes WHERE user_id = $1
"""


async def list_own_factors(uow: UnitOfWork, user_id: UUID) -> list[Factor]:
    """Return the user's second factors of every kind, oldest first."""
    return [Factor(**row) for row in await uow.fetch(_LIST_OWN, user_id)]


async def recovery_codes_left(uow: UnitOfWork, user_id: UUID) -> RecoveryCodeCount:
    """Return the number of unused codes, and when they were created."""
    row = await uow.fetch_row(_REMAINING, user_id)
    if row is None:
        raise LookupError("an aggregate has one row")
    return RecoveryCodeCount.from_row(row)
