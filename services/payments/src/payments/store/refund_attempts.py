"""SQL for writes: the attempts of a refund that failed before the present one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a refund, as the gateway knows it: a refund of `transaction`, or with a recipient a transfer."""

    id: UUID
    gateway_refund_id: str | None
    recipient_code: str | None
    transaction: str

    @classmethod
    def of(cls, row: asyncpg.Record) -> "Attempt":
        """From a refund's row (its present attempt) or a failed attempt's."""
        reference, gateway_id = row["reference"], row["gateway_id"]
        # The gateway's own id tells apart two charges under one reference.
        transaction = gateway_id if gateway_id is not None and gateway_id.isdigit() else reference
        return cls(row["attempt_id"], row["gateway_refund_id"], row["recipient_code"], transaction)


# The failed attempt is written down as it stood, in the statement that puts a new one in its place.
_REPLACE_ATTEMPT: Final = """
WITH replaced AS (
    INSERT INTO failed_refund_attempts (id, refund_id, gateway_refund_id, recipient_code, failure, replaced_at)
    SELECT attempt_id, id, gateway_refund_id, recipient_code, failure, $4 FROM refunds WHERE id = $1
)
UPDATE refunds SET status = 'pending', attempt_id = $2, recipient_code = $3, gateway_refund_id = NULL, failure = NULL,
    submitted_at = NULL, questions = 0, due_at = NULL
WHERE id = $1
"""
_ATTEMPT_COLUMNS: Final = """
SELECT a.id AS attempt_id, a.gateway_refund_id, a.recipient_code, c.reference, c.gateway_id
FROM failed_refund_attempts a JOIN refunds f ON f.id = a.refund_id JOIN charges c ON c.id = f.charge_id
"""
_UNCONFIRMED: Final = f"{_ATTEMPT_COLUMNS} WHERE a.refund_id = $1 AND a.confirmed_at IS NULL ORDER BY a.replaced_at"
_FIND_ATTEMPT_OF_GATEWAY: Final = "SELECT id FROM failed_refund_attempts WHERE gateway_refund_id = $1"
_SAVE_CONFIRMED: Final = "UPDATE failed_refund_attempts SET confirmed_at = $2 WHERE id = $1"


async def replace_attempt(
    uow: UnitOfWork, refund_id: UUID, attempt_id: UUID, recipient_code: str | None, now: datetime
) -> None:
    """The refund is to be sent again under a new reference: to where it came from, or to a recipient's account."""
    await uow.execute(_REPLACE_ATTEMPT, refund_id, attempt_id, recipient_code, now)


async def list_unconfirmed_attempts(uow: UnitOfWork, refund_id: UUID) -> list[Attempt]:
    """The failed attempts of which the gateway has not yet been asked whether they are dead."""
    return [Attempt.of(row) for row in await uow.fetch(_UNCONFIRMED, refund_id)]


async def find_attempt_of_gateway(uow: UnitOfWork, gateway_refund_id: str) -> UUID | None:
    attempt_id: UUID | None = await uow.fetch_value(_FIND_ATTEMPT_OF_GATEWAY, gateway_refund_id)
    return attempt_id


async def save_attempt_confirmed(uow: UnitOfWork, attempt_id: UUID, now: datetime) -> None:
    await uow.execute(_SAVE_CONFIRMED, attempt_id, now)
