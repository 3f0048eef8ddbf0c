"""SQL for payment intents, their references and their idempotency keys."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.state_changes import states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused
from payments.domain.gateways import GatewayName
from payments.domain.transitions import PAYMENT, PaymentStatus


class OrderToPay(NamedTuple):
    """The projection of a buyer's order; the total in kobo. No `email` before the buyer's profile has arrived."""

    total_minor: int
    currency: str
    status: str
    payment_due_at: datetime
    email: str | None


class BoundKey(NamedTuple):
    """The request and the intent that an idempotency key is bound to."""

    fingerprint: bytes
    intent_id: UUID


class Intent(NamedTuple):
    """A payment intent; the amount in kobo."""

    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: PaymentStatus
    channel: str | None
    callback_url: str | None
    authorization_url: str | None
    access_code: str | None
    expires_at: datetime
    gateway: GatewayName


class LockedIntent(NamedTuple):
    """The intent of a reference, its order locked. `reference` is the intent's current one."""

    id: UUID
    order_id: UUID
    buyer_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: PaymentStatus
    order_number: str | None


class UnpaidAttempt(NamedTuple):
    """An attempt to pay whose outcome has not arrived; `queries` counts those to the gateway."""

    id: UUID
    reference: str
    queries: int
    expires_at: datetime
    gateway: GatewayName


_FIND_OWN_ORDER_AND_KEY: Final = """
SELECT o.total_minor, o.currency, o.status, o.payment_due_at, (SELECT email FROM buyers WHERE user_id = o.buyer_id),
       k.fingerprint, k.intent_id
FROM (SELECT) AS request
LEFT JOIN payable_orders o ON o.id = $1 AND o.buyer_id = $2
LEFT JOIN payment_intent_keys k ON k.caller_id = $2 AND k.idempotency_key = $3
"""
_BIND_KEY: Final = """
INSERT INTO payment_intent_keys (caller_id, idempotency_key, fingerprint, intent_id, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (caller_id, idempotency_key) DO NOTHING
"""
_INTENT_COLUMNS: Final = """
id, order_id, reference, amount_minor, currency, status, channel, callback_url, authorization_url, access_code, expires_at,
gateway
"""
_FIND_INTENT: Final = f"SELECT {_INTENT_COLUMNS} FROM payment_intents WHERE id = $1 AND buyer_id = $2"
_FIND_LIVE: Final = f"""
SELECT {_INTENT_COLUMNS} FROM payment_intents
WHERE order_id = $1 AND buyer_id = $2 AND status IN ('opening', 'pending')
"""
# Of two concurrent requests the second waits here for the first, and then finds its intent.
_RECORD_INTENT: Final = f"""
WITH made AS (
    INSERT INTO payment_intents (id, order_id, buyer_id, reference, amount_minor, currency, status, channel, callback_url,
                                 expires_at, created_at, opening_until, gateway)
    VALUES ($1, $2, $3, $4, $5, $6, 'opening', $7, $8, $9, $10, $11, $12)
    ON CONFLICT (order_id) WHERE status IN ('opening', 'pending') DO NOTHING
    RETURNING {_INTENT_COLUMNS}
), referenced AS (
    INSERT INTO payment_references (reference, intent_id, buyer_id, settlement, created_at, gateway)
    SELECT reference, id, $3, amount_minor::text, $10, gateway FROM made
), bound AS (
    INSERT INTO payment_intent_keys (caller_id, idempotency_key, fingerprint, intent_id, created_at)
    SELECT $3, $13, $14, id, $10 FROM made
)
SELECT {_INTENT_COLUMNS} FROM made
"""
# The lease of the call to the gateway: its holder calls, under a new reference.
_CLAIM_OPENING: Final = f"""
UPDATE payment_intents SET reference = $2, opening_until = $3, gateway = $5
WHERE id = $1 AND status = 'opening' AND (opening_until IS NULL OR opening_until <= $4)
RETURNING {_INTENT_COLUMNS}
"""
_RECORD_REFERENCE: Final = """
INSERT INTO payment_references (reference, intent_id, buyer_id, settlement, created_at, gateway)
VALUES ($1, $2, $3, $4, $5, $6)
"""
_SAVE_OPENED: Final = f"""
UPDATE payment_intents SET status = 'pending', authorization_url = $3, access_code = $4, opening_until = NULL, query_at = $5
WHERE id = $1 AND reference = $2 AND status IN {states_before(PAYMENT, "opened_at_gateway")}
RETURNING {_INTENT_COLUMNS}
"""
_SAVE_UNOPENED: Final = """
UPDATE payment_intents SET opening_until = NULL WHERE id = $1 AND reference = $2 AND status = 'opening'
"""
# Locks the order, as settling and closing its payments do.
_LOCK_ATTEMPT: Final = """
SELECT i.id, i.order_id, i.buyer_id, i.reference, i.amount_minor, i.currency, i.status, o.number
FROM payment_references r JOIN payment_intents i ON i.id = r.intent_id JOIN payable_orders o ON o.id = i.order_id
WHERE r.reference = $1 FOR UPDATE OF o
"""
_SAVE_FAILED: Final = f"""
UPDATE payment_intents SET status = 'failed', failure_reason = $2, failed_at = $3
WHERE id = $1 AND status IN {states_before(PAYMENT, "declined")}
"""
# Failed attempts stay due: the payer may try again on the gateway's page.
_CLAIM_UNPAID: Final = """
SELECT id, reference, queries, expires_at, gateway FROM payment_intents
WHERE query_at <= $1 AND status IN ('pending', 'failed') ORDER BY query_at LIMIT 100 FOR UPDATE SKIP LOCKED
"""
_SAVE_QUERY: Final = "UPDATE payment_intents SET queries = queries + 1, query_at = $2 WHERE id = $1"
_FIND_EMAIL: Final = "SELECT email FROM buyers WHERE user_id = $1"


async def find_own_order_and_key(
    uow: UnitOfWork, order_id: UUID, buyer_id: UUID, key: UUID
) -> tuple[OrderToPay | None, BoundKey | None]:
    """Return the buyer's order and the binding of the idempotency key, each None while it is unknown."""
    row = await uow.fetch_row(_FIND_OWN_ORDER_AND_KEY, order_id, buyer_id, key)
    if row is None:
        raise AssertionError("a SELECT from one row returns one row")
    *order, fingerprint, intent_id = row
    return (
        None if order[0] is None else OrderToPay(*order),
        None if intent_id is None else BoundKey(fingerprint, intent_id),
    )


async def bind_key_if_new(
    uow: UnitOfWork, caller_id: UUID, key: UUID, fingerprint: bytes, intent_id: UUID, now: datetime
) -> bool:
    """Return whether the key was unbound; a bound one keeps its intent."""
    return bool(await uow.execute(_BIND_KEY, caller_id, key, fingerprint, intent_id, now))


async def find_own_intent(uow: UnitOfWork, intent_id: UUID, buyer_id: UUID) -> Intent | None:
    return _intent(await uow.fetch_row(_FIND_INTENT, intent_id, buyer_id))


async def find_live_intent(uow: UnitOfWork, order_id: UUID, buyer_id: UUID) -> Intent | None:
    return _intent(await uow.fetch_row(_FIND_LIVE, order_id, buyer_id))


async def record_claimed_intent_if_new(
    uow: UnitOfWork,
    intent: Intent,
    buyer_id: UUID,
    until: datetime,
    key: UUID,
    fingerprint: bytes,
    now: datetime,
) -> Intent | None:
    """Return the intent, whose gateway this caller may call until `until`, with its reference and the request's key.

    None when the order has a live one. Raises IdempotencyKeyReused when a concurrent request bound the key to another order.
    """
    try:
        row = await uow.fetch_row(
            _RECORD_INTENT,
            intent.id,
            intent.order_id,
            buyer_id,
            intent.reference,
            intent.amount_minor,
            intent.currency,
            intent.channel,
            intent.callback_url,
            intent.expires_at,
            now,
            until,
            intent.gateway,
            key,
            fingerprint,
        )
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name == "payment_intent_keys_pkey":
            raise IdempotencyKeyReused from error
        raise
    return _intent(row)


async def claim_opening(
    uow: UnitOfWork, intent_id: UUID, reference: str, until: datetime, now: datetime, gateway: GatewayName
) -> Intent | None:
    """Return the intent when this caller may call the gateway; None while another caller holds the lease."""
    return _intent(await uow.fetch_row(_CLAIM_OPENING, intent_id, reference, until, now, gateway))


async def record_reference(
    uow: UnitOfWork,
    reference: str,
    intent_id: UUID,
    buyer_id: UUID,
    settlement: str,
    now: datetime,
    gateway: GatewayName,
) -> None:
    await uow.execute(_RECORD_REFERENCE, reference, intent_id, buyer_id, settlement, now, gateway)


async def save_opened(
    uow: UnitOfWork, intent_id: UUID, reference: str, url: str, access_code: str, query_at: datetime
) -> Intent | None:
    """Mark the intent `pending`; the gateway is queried at `query_at` unless its webhook arrives first.

    None when it is no longer opening under this reference.
    """
    return _intent(await uow.fetch_row(_SAVE_OPENED, intent_id, reference, url, access_code, query_at))


async def save_unopened(uow: UnitOfWork, intent_id: UUID, reference: str) -> None:
    """Return the lease of the call."""
    await uow.execute(_SAVE_UNOPENED, intent_id, reference)


async def lock_attempt(uow: UnitOfWork, reference: str) -> LockedIntent | None:
    """Return the intent that recorded this reference, now or earlier."""
    row = await uow.fetch_row(_LOCK_ATTEMPT, reference)
    return None if row is None else LockedIntent(*row)


async def save_intent_failed(uow: UnitOfWork, intent_id: UUID, reason: str, now: datetime) -> bool:
    """Return False when the intent was paid or closed while this transaction waited for the order's lock."""
    return bool(await uow.execute(_SAVE_FAILED, intent_id, reason, now))


async def claim_unpaid_attempts(uow: UnitOfWork, now: datetime) -> list[UnpaidAttempt]:
    return [UnpaidAttempt(*row) for row in await uow.fetch(_CLAIM_UNPAID, now)]


async def save_attempt_query(uow: UnitOfWork, intent_id: UUID, query_at: datetime | None) -> None:
    await uow.execute(_SAVE_QUERY, intent_id, query_at)


async def find_email(uow: UnitOfWork, user_id: UUID) -> str | None:
    email: str | None = await uow.fetch_value(_FIND_EMAIL, user_id)
    return email


def _intent(row: asyncpg.Record | None) -> Intent | None:
    return None if row is None else Intent(*row)
