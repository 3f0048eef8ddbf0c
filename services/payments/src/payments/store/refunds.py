"""SQL for the refunds of payers."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import Reads, UnitOfWork
from payments.domain.refunds import NewRefund, PublishedKind, RefundKind
from payments.domain.transitions import REFUND, RefundStatus
from payments.store.refund_attempts import RefundAttempt
from providers.gateways import GatewayName


class LockedRefund(NamedTuple):
    """A refund with its current attempt, its row locked until the unit of work ends. `polls` counts queries to the
    gateway.

    The gateway waits for the payer's account while `needs_account`; `retry_recipient_code` is the one that was approved
    for it.
    """

    id: UUID
    kind: RefundKind
    order_id: UUID | None
    buyer_id: UUID | None
    amount_minor: int
    currency: str
    status: RefundStatus
    gateway_refund_id: str | None
    submitted_at: datetime | None
    polls: int
    due_at: datetime | None
    attempt_id: UUID
    recipient_code: str | None
    charge_id: UUID
    charge_reference: str
    charge_gateway_id: str | None
    needs_account: bool
    retry_recipient_code: str | None
    gateway: GatewayName
    order_number: str | None
    balance_minor: int

    @property
    def published_kind(self) -> PublishedKind:
        """The kind in events about our own refunds; one made outside has an event of its own."""
        if self.kind == "outside":
            raise AssertionError("a refund made outside is settled and failed apart")
        return self.kind

    @property
    def attempt(self) -> RefundAttempt:
        return RefundAttempt(
            self.attempt_id,
            self.gateway_refund_id,
            self.recipient_code,
            self.charge_reference,
            self.charge_gateway_id,
            self.gateway,
        )


_RECORD_REFUND: Final = """
INSERT INTO refunds (id, attempt_id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason,
    created_at)
VALUES ($1, $1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9)
ON CONFLICT (id) DO NOTHING
RETURNING true
"""
_RECORD_OUTSIDE: Final = """
INSERT INTO refunds (id, attempt_id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason,
                     gateway_refund_id, submitted_at, due_at, created_at)
VALUES ($1, $1, 'outside', $2, $3, $4, $5, $6, 'submitted', $7, $8, $9, $10, $9)
ON CONFLICT (id) DO NOTHING
RETURNING true
"""
_HAS_UNANSWERED: Final = "SELECT EXISTS (SELECT FROM refunds WHERE charge_id = $1 AND status = 'submitting')"
_SELECT: Final = """
SELECT f.id, f.kind, f.order_id, f.buyer_id, f.amount_minor, f.currency, f.status, f.gateway_refund_id, f.submitted_at,
       f.poll_count, f.due_at, f.attempt_id, f.recipient_code, f.charge_id, c.reference, c.gateway_id,
       f.needs_account_at IS NOT NULL, f.retry_recipient_code, c.gateway,
       (SELECT number FROM payable_orders WHERE id = f.order_id), f.balance_minor
FROM refunds f JOIN charges c ON c.id = f.charge_id
"""
_LOCK_REFUND: Final = f"{_SELECT} WHERE f.id = $1 FOR UPDATE OF f"
_LOCK_REFUND_OF_ATTEMPT: Final = f"""
{_SELECT} WHERE f.id = coalesce(
    (SELECT refund_id FROM failed_refund_attempts WHERE id = $1), (SELECT id FROM refunds WHERE attempt_id = $1)
) FOR UPDATE OF f
"""
_LOCK_REFUND_OF_GATEWAY: Final = f"""
{_SELECT} WHERE f.id = coalesce(
    (SELECT id FROM refunds WHERE gateway_refund_id = $1),
    (SELECT refund_id FROM failed_refund_attempts WHERE gateway_refund_id = $1)
) FOR UPDATE OF f
"""
_DUE_REFUNDS: Final = "SELECT id FROM refunds WHERE due_at <= $1 ORDER BY due_at LIMIT 50"
_SAVE_SUBMITTING: Final = f"""
UPDATE refunds SET status = 'submitting', submitted_at = $2 WHERE id = $1 AND status IN {states_before(REFUND, "sent")}
"""
_SAVE_ADOPTED: Final = "UPDATE refunds SET attempt_id = $2 WHERE id = $1 AND status = 'submitting'"
_SAVE_UNSENT: Final = f"""
UPDATE refunds SET status = 'pending', submitted_at = NULL
WHERE id = $1 AND status IN {states_before(REFUND, "not_sent")}
"""
_SAVE_SUBMITTED: Final = f"""
UPDATE refunds SET status = 'submitted', gateway_refund_id = $2, due_at = $3
WHERE id = $1 AND status IN {states_before(REFUND, "accepted")}
"""
_SAVE_POLL: Final = "UPDATE refunds SET poll_count = poll_count + 1, due_at = $2 WHERE id = $1"
_SAVE_POLLS_FINISHED: Final = "UPDATE refunds SET due_at = NULL WHERE id = $1"
_SAVE_SETTLED: Final = f"""
UPDATE refunds SET status = 'settled', settled_at = $2, due_at = NULL,
    gateway_refund_id = coalesce(gateway_refund_id, $3), failure = NULL, needs_account_at = NULL,
    retry_recipient_code = NULL
WHERE id = $1
  AND status IN {states_before(REFUND, "paid", "transfer_paid", "replaced_attempt_paid", "outside_paid", "offset")}
"""
_SAVE_FAILED: Final = f"""
UPDATE refunds SET status = 'failed', failure = $2, due_at = NULL, settled_at = NULL,
    gateway_refund_id = coalesce(gateway_refund_id, $3), needs_account_at = $4, retry_recipient_code = NULL
WHERE id = $1 AND status IN {states_before(REFUND, "failed", "reversed")}
"""
_SAVE_ACCOUNT_APPROVED: Final = f"""
UPDATE refunds SET status = 'submitting', retry_recipient_code = $2, failure = NULL, submitted_at = $3
WHERE id = $1 AND status IN {states_before(REFUND, "account_approved")}
"""
_SAVE_RETRIED: Final = f"""
UPDATE refunds SET status = 'submitted', needs_account_at = NULL, retry_recipient_code = NULL, poll_count = 0,
    due_at = $2
WHERE id = $1 AND status IN {states_before(REFUND, "retried_with_account")} AND retry_recipient_code IS NOT NULL
"""
_SAVE_CREDITED: Final = f"""
UPDATE refunds SET amount_minor = amount_minor - $2, balance_minor = $2,
    status = CASE amount_minor WHEN $2 THEN 'settled' ELSE status END,
    settled_at = CASE amount_minor WHEN $2 THEN $3::timestamptz END
WHERE id = $1 AND status IN {states_before(REFUND, "credited_to_balance")}
"""
_SAVE_NEEDS_NO_ACCOUNT: Final = "UPDATE refunds SET needs_account_at = NULL WHERE id = $1"


async def record_refund_if_new(uow: UnitOfWork, refund: NewRefund, now: datetime) -> bool:
    """Return whether the refund is new."""
    return bool(
        await uow.fetch_value(
            _RECORD_REFUND,
            refund.id,
            refund.kind,
            refund.charge_id,
            refund.order_id,
            refund.buyer_id,
            refund.amount_minor,
            refund.currency,
            refund.reason,
            now,
        )
    )


async def record_outside_refund_if_new(
    uow: UnitOfWork, refund: NewRefund, gateway_refund_id: str, due_at: datetime, now: datetime
) -> bool:
    """Record a refund that was made in the gateway's dashboard; whether it is new."""
    return bool(
        await uow.fetch_value(
            _RECORD_OUTSIDE,
            refund.id,
            refund.charge_id,
            refund.order_id,
            refund.buyer_id,
            refund.amount_minor,
            refund.currency,
            refund.reason,
            gateway_refund_id,
            now,
            due_at,
        )
    )


async def has_unanswered_call(uow: UnitOfWork, charge_id: UUID) -> bool:
    """Return whether a refund of the charge may be at the gateway under an id that is not recorded yet."""
    return bool(await uow.fetch_value(_HAS_UNANSWERED, charge_id))


async def lock_refund(uow: UnitOfWork, refund_id: UUID) -> LockedRefund | None:
    return await _lock(uow, _LOCK_REFUND, refund_id)


async def lock_refund_of_attempt(uow: UnitOfWork, attempt_id: UUID) -> LockedRefund | None:
    """Return the refund of a current or replaced attempt; compare `attempt_id` to distinguish them."""
    return await _lock(uow, _LOCK_REFUND_OF_ATTEMPT, attempt_id)


async def lock_refund_of_gateway(uow: UnitOfWork, gateway_refund_id: str) -> LockedRefund | None:
    return await _lock(uow, _LOCK_REFUND_OF_GATEWAY, gateway_refund_id)


async def _lock(uow: UnitOfWork, statement: str, key: UUID | str) -> LockedRefund | None:
    row = await uow.fetch_row(statement, key)
    return None if row is None else LockedRefund(*row)


async def list_due_refunds(reads: Reads, now: datetime) -> list[UUID]:
    return [row["id"] for row in await reads.fetch(_DUE_REFUNDS, now)]


async def save_refund_credited(uow: UnitOfWork, refund_id: UUID, amount_minor: int, now: datetime) -> None:
    """Move a part of the refund, in kobo, to the buyer's balance; all of it settles the refund."""
    await change_state(uow, _SAVE_CREDITED, refund_id, amount_minor, now)


async def save_refund_submitting(uow: UnitOfWork, refund_id: UUID, now: datetime) -> None:
    await change_state(uow, _SAVE_SUBMITTING, refund_id, now)


async def save_attempt_adopted(uow: UnitOfWork, refund_id: UUID, attempt_id: UUID) -> None:
    """Replace the current attempt by one that only the gateway had recorded for this refund."""
    await uow.execute(_SAVE_ADOPTED, refund_id, attempt_id)


async def save_refund_unsent(uow: UnitOfWork, refund_id: UUID) -> None:
    """Return the refund to `pending`: its call did not reach the gateway."""
    await change_state(uow, _SAVE_UNSENT, refund_id)


async def save_refund_submitted(
    uow: UnitOfWork, refund_id: UUID, gateway_refund_id: str | None, due_at: datetime
) -> None:
    await change_state(uow, _SAVE_SUBMITTED, refund_id, gateway_refund_id, due_at)


async def save_refund_poll(uow: UnitOfWork, refund_id: UUID, due_at: datetime) -> None:
    await uow.execute(_SAVE_POLL, refund_id, due_at)


async def save_polls_finished(uow: UnitOfWork, refund_id: UUID) -> None:
    await uow.execute(_SAVE_POLLS_FINISHED, refund_id)


async def save_refund_settled(uow: UnitOfWork, refund_id: UUID, now: datetime, gateway_refund_id: str | None) -> None:
    await change_state(uow, _SAVE_SETTLED, refund_id, now, gateway_refund_id)


async def save_refund_failed(
    uow: UnitOfWork,
    refund_id: UUID,
    failure: str,
    gateway_refund_id: str | None,
    needs_account_at: datetime | None = None,
) -> None:
    await change_state(uow, _SAVE_FAILED, refund_id, failure, gateway_refund_id, needs_account_at)


async def save_account_approved(uow: UnitOfWork, refund_id: UUID, recipient_code: str, now: datetime) -> None:
    """Retry the gateway's own refund to this recipient: it is in progress, and no new attempt."""
    await change_state(uow, _SAVE_ACCOUNT_APPROVED, refund_id, recipient_code, now)


async def save_refund_retried(uow: UnitOfWork, refund_id: UUID, due_at: datetime) -> None:
    await change_state(uow, _SAVE_RETRIED, refund_id, due_at)


async def save_refund_needs_no_account(uow: UnitOfWork, refund_id: UUID) -> None:
    await uow.execute(_SAVE_NEEDS_NO_ACCOUNT, refund_id)
