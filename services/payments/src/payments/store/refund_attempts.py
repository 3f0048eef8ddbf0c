"""SQL for the attempts of a refund that failed before its current one."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import UnitOfWork
from payments.domain.transitions import REFUND
from providers.gateways import PAYSTACK, GatewayName


class RefundAttempt(NamedTuple):
    """One attempt of a refund. The gateway runs it as a transfer when it has a recipient, else as a refund of the
    charge.

    `gateway` is that of the charge, for both.
    """

    id: UUID
    gateway_refund_id: str | None
    recipient_code: str | None
    charge_reference: str
    charge_gateway_id: str | None
    gateway: GatewayName

    @property
    def transaction(self) -> str:
        """The charge's id at the gateway, which is unique where a reference is not; else the reference."""
        gateway_id = self.charge_gateway_id
        is_usable = gateway_id is not None and (self.gateway != PAYSTACK or gateway_id.isdigit())
        return gateway_id if gateway_id is not None and is_usable else self.charge_reference


# The current attempt becomes a replaced one. It is one already when it paid after it had been replaced.
_REPLACED: Final = """
INSERT INTO failed_refund_attempts
    (id, refund_id, gateway_refund_id, recipient_code, failure, replaced_at, transfer_fee_minor)
SELECT attempt_id, id, gateway_refund_id, recipient_code, failure, {now}, transfer_fee_minor FROM refunds WHERE id = $1
ON CONFLICT (id) DO UPDATE SET failure = excluded.failure, confirmed_at = NULL,
    transfer_fee_minor = excluded.transfer_fee_minor
"""
# One statement records the failed attempt and replaces it with a new one.
_REPLACE_ATTEMPT: Final = f"""
WITH replaced AS ({_REPLACED.format(now="$4")})
UPDATE refunds SET status = 'pending', attempt_id = $2, recipient_code = $3, gateway_refund_id = NULL, failure = NULL,
    submitted_at = NULL, poll_count = 0, due_at = NULL, transfer_fee_minor = NULL
WHERE id = $1 AND status IN {states_before(REFUND, "attempt_approved")}
"""
_RESTORE_ATTEMPT: Final = f"""
WITH replaced AS ({_REPLACED.format(now="$3")}), restored AS (
    UPDATE failed_refund_attempts SET confirmed_at = $3 WHERE id = $2
    RETURNING gateway_refund_id, recipient_code, transfer_fee_minor
)
UPDATE refunds SET attempt_id = $2, gateway_refund_id = restored.gateway_refund_id,
    recipient_code = restored.recipient_code, transfer_fee_minor = restored.transfer_fee_minor
FROM restored WHERE id = $1
"""
_UNCONFIRMED: Final = """
SELECT a.id, a.gateway_refund_id, a.recipient_code, c.reference, c.gateway_id, c.gateway
FROM failed_refund_attempts a JOIN refunds f ON f.id = a.refund_id JOIN charges c ON c.id = f.charge_id
WHERE a.refund_id = $1 AND a.confirmed_at IS NULL ORDER BY a.replaced_at
"""
# Of the refunds of one transaction, those of this amount that the gateway may have. And all failed attempts: some were
# over more than their refund is now.
_REPORTED: Final = """
SELECT f.attempt_id, f.gateway_refund_id, f.recipient_code, c.reference, c.gateway_id, c.gateway
FROM refunds f JOIN charges c ON c.id = f.charge_id
WHERE c.reference = $1 AND f.amount_minor = $2 AND f.recipient_code IS NULL
  AND f.status IN ('submitting', 'submitted', 'failed', 'prepared')
UNION ALL
SELECT a.id, a.gateway_refund_id, a.recipient_code, c.reference, c.gateway_id, c.gateway
FROM failed_refund_attempts a JOIN refunds f ON f.id = a.refund_id JOIN charges c ON c.id = f.charge_id
WHERE c.reference = $1 AND a.recipient_code IS NULL AND a.gateway_refund_id IS NOT NULL
LIMIT 20
"""
_GATEWAY_OF_CHARGE: Final = "SELECT gateway FROM charges WHERE reference = $1 LIMIT 1"
_FIND_BY_GATEWAY_ID: Final = "SELECT id FROM failed_refund_attempts WHERE gateway_refund_id = $1"
_SAVE_CONFIRMED: Final = "UPDATE failed_refund_attempts SET confirmed_at = $2 WHERE id = $1"
# An attempt is the current one of its refund, or a replaced one.
_FIND_TRANSFER_FEE: Final = """
SELECT transfer_fee_minor FROM refunds WHERE attempt_id = $1
UNION ALL SELECT transfer_fee_minor FROM failed_refund_attempts WHERE id = $1
"""
_SAVE_TRANSFER_FEE: Final = """
WITH current AS (UPDATE refunds SET transfer_fee_minor = $2 WHERE attempt_id = $1)
UPDATE failed_refund_attempts SET transfer_fee_minor = $2 WHERE id = $1
"""


async def replace_attempt(
    uow: UnitOfWork, refund_id: UUID, attempt_id: UUID, recipient_code: str | None, now: datetime
) -> None:
    """Make the refund `pending` again under a new attempt: back to the payer, or to a recipient's account."""
    await change_state(uow, _REPLACE_ATTEMPT, refund_id, attempt_id, recipient_code, now)


async def restore_attempt(uow: UnitOfWork, refund_id: UUID, attempt_id: UUID, now: datetime) -> None:
    """Make a replaced attempt the current one again, and replace the current one by it. The refund must be locked."""
    await uow.execute(_RESTORE_ATTEMPT, refund_id, attempt_id, now)


async def list_unconfirmed_attempts(uow: UnitOfWork, refund_id: UUID) -> list[RefundAttempt]:
    """Return the failed attempts whose failure the gateway has not confirmed yet."""
    return [RefundAttempt(*row) for row in await uow.fetch(_UNCONFIRMED, refund_id)]


async def list_reported_attempts(uow: UnitOfWork, reference: str, amount_minor: int) -> list[RefundAttempt]:
    """At most twenty attempts that an event about a refund of this transaction and amount may mean."""
    return [RefundAttempt(*row) for row in await uow.fetch(_REPORTED, reference, amount_minor)]


async def find_gateway_of_charge(uow: UnitOfWork, reference: str) -> GatewayName | None:
    """Return the gateway of the charges under a reference; None when there is none."""
    gateway: GatewayName | None = await uow.fetch_value(_GATEWAY_OF_CHARGE, reference)
    return gateway


async def find_attempt_of_gateway(uow: UnitOfWork, gateway_refund_id: str) -> UUID | None:
    attempt_id: UUID | None = await uow.fetch_value(_FIND_BY_GATEWAY_ID, gateway_refund_id)
    return attempt_id


async def save_attempt_confirmed(uow: UnitOfWork, attempt_id: UUID, now: datetime) -> None:
    await uow.execute(_SAVE_CONFIRMED, attempt_id, now)


async def find_transfer_fee(uow: UnitOfWork, attempt_id: UUID) -> int | None:
    """Return the posted fee of the attempt's transfer, in kobo."""
    fee_minor: int | None = await uow.fetch_value(_FIND_TRANSFER_FEE, attempt_id)
    return fee_minor


async def save_transfer_fee(uow: UnitOfWork, attempt_id: UUID, fee_minor: int) -> None:
    """Save the posted fee. Its posting belongs to the same unit of work, in which the refund is locked."""
    await uow.execute(_SAVE_TRANSFER_FEE, attempt_id, fee_minor)
