"""SQL that writes. It decides nothing; what to write is the use cases' business."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from common.database import ACQUIRE_SECONDS_MAX, Database, DatabaseAway, UnitOfWork, is_away
from common.ids import new_id
from common.telemetry import trace_headers
from payments.domain.charges import Charge, Expected
from payments.domain.escrow import Escrow, Parts
from payments.domain.refunds import RefundKind
from payments.domain.webhooks import PROVIDER, Arrival

# --- webhooks ---------------------------------------------------------------------------------------------------------

# The hot path: deduplication row and work item in one statement, one round trip, one commit (performance.md). The subject
# is the webhook's own unique id, so the item is the first and only one of its subject.
_ACCEPT_WEBHOOK: Final = """
WITH arrived AS (
    INSERT INTO processed_webhook_events (id, provider, event_type, payload, raw, outcome)
    VALUES ($1, $2, $3, $4, $5, 'queued')
    ON CONFLICT (id) DO NOTHING
    RETURNING id
)
INSERT INTO outbox (id, queue, type, source, subject, sequence, payload, trace)
SELECT $6, 'payments.webhooks', 'payments.webhooks', '/services/payments', arrived.id, 1, $7, $8 FROM arrived
"""


async def record_webhook_once(database: Database, arrival: Arrival, raw: bytes, payload: Any) -> bool:
    """Commits the webhook and its work item together; False for a duplicate, which may still be committing elsewhere.

    `payload` is what the jsonb column holds. Raises asyncpg.DataError or ProgramLimitExceededError when it cannot hold it,
    and DatabaseAway when nothing could be committed.
    """
    work = msgspec.json.encode({"webhookId": arrival.id})
    try:
        # Bounded: a webhook that finds no free connection for so long is sent again by the gateway.
        async with database.service.acquire(timeout=ACQUIRE_SECONDS_MAX) as connection:
            status: str = await connection.execute(
                _ACCEPT_WEBHOOK,
                arrival.id,
                PROVIDER,
                arrival.event_type,
                payload,
                raw,
                new_id(),
                work,
                trace_headers(),
            )
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        if isinstance(error, OSError) or is_away(error):
            raise DatabaseAway from error
        raise
    return status.endswith(" 1")


_LOCK_WEBHOOK: Final = """
SELECT id, event_type, raw, outcome, processed_at FROM processed_webhook_events WHERE id = $1 FOR UPDATE
"""
_SET_OUTCOME: Final = "UPDATE processed_webhook_events SET outcome = $2 WHERE id = $1"


async def lock_webhook(uow: UnitOfWork, webhook_id: str) -> asyncpg.Record | None:
    """The webhook, held until the end: two workers with the same item take turns."""
    return await uow.fetch_row(_LOCK_WEBHOOK, webhook_id)


async def save_outcome(uow: UnitOfWork, webhook_id: str, outcome: str) -> None:
    await uow.execute(_SET_OUTCOME, webhook_id, outcome)


_RECORD_DEAD: Final = """
INSERT INTO dead_letter_webhooks (id, webhook_id, event_type, error, attempts)
SELECT $1, id, event_type, $3, $4 FROM processed_webhook_events WHERE id = $2
RETURNING event_type
"""
_LOCK_DEAD: Final = "SELECT id, webhook_id, event_type FROM dead_letter_webhooks WHERE id = $1 FOR UPDATE"
_FIND_OUTCOME: Final = "SELECT outcome FROM processed_webhook_events WHERE id = $1 FOR UPDATE"
_MARK_REPLAYED: Final = "UPDATE dead_letter_webhooks SET replayed_at = $2 WHERE id = $1"


async def record_dead_webhook(
    uow: UnitOfWork, letter_id: UUID, webhook_id: str, error: str, attempts: int
) -> str | None:
    """Keeps the webhook as a dead letter; its event type."""
    event_type: str | None = await uow.fetch_value(_RECORD_DEAD, letter_id, webhook_id, error, attempts)
    return event_type


async def lock_dead_webhook(uow: UnitOfWork, letter_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_LOCK_DEAD, letter_id)


async def lock_outcome(uow: UnitOfWork, webhook_id: str) -> str:
    outcome: str = await uow.fetch_value(_FIND_OUTCOME, webhook_id)
    return outcome


async def mark_replayed(uow: UnitOfWork, letter_id: UUID, now: datetime) -> None:
    await uow.execute(_MARK_REPLAYED, letter_id, now)


# --- what is heard ----------------------------------------------------------------------------------------------------

_SAVE_BUYER: Final = """
INSERT INTO buyers (user_id, email, heard_at) VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, heard_at = excluded.heard_at
"""
_RECORD_ORDER: Final = """
INSERT INTO payable_orders (id, buyer_id, vendor_id, total_minor, commission_minor, delivery_fee_minor, currency, status,
                            payment_due_at, heard_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'Processing', $8, $9)
ON CONFLICT (id) DO NOTHING
"""
_LOCK_ORDER: Final = "SELECT status FROM payable_orders WHERE id = $1 FOR UPDATE"
_SET_ORDER: Final = "UPDATE payable_orders SET status = $2 WHERE id = $1"
_CLOSE_INTENTS: Final = """
UPDATE payment_intents SET status = 'closed', opening_until = NULL
WHERE order_id = $1 AND status IN ('opening', 'pending')
"""


async def save_buyer(uow: UnitOfWork, user_id: UUID, email: str, now: datetime) -> None:
    await uow.execute(_SAVE_BUYER, user_id, email, now)


async def record_order_once(uow: UnitOfWork, *values: Any) -> None:
    """(id, buyer, vendor, total, commission, delivery fee, currency, payment due at, now)."""
    await uow.execute(_RECORD_ORDER, *values)


async def lock_order_status(uow: UnitOfWork, order_id: UUID) -> str | None:
    status: str | None = await uow.fetch_value(_LOCK_ORDER, order_id)
    return status


async def save_order_status(uow: UnitOfWork, order_id: UUID, status: str) -> None:
    await uow.execute(_SET_ORDER, order_id, status)


async def close_live_intents(uow: UnitOfWork, order_id: UUID) -> None:
    await uow.execute(_CLOSE_INTENTS, order_id)


# --- intents ----------------------------------------------------------------------------------------------------------

_FIND_ORDER: Final = "SELECT id, total_minor, currency, status, payment_due_at FROM payable_orders WHERE id = $1"
_FIND_OWN_ORDER: Final = f"{_FIND_ORDER} AND buyer_id = $2"
_FIND_KEY: Final = """
SELECT fingerprint, intent_id FROM payment_intent_keys WHERE caller_id = $1 AND idempotency_key = $2
"""
_BIND_KEY: Final = """
INSERT INTO payment_intent_keys (caller_id, idempotency_key, fingerprint, intent_id, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (caller_id, idempotency_key) DO NOTHING
"""
_INTENT_COLUMNS: Final = """
id, order_id, buyer_id, reference, amount_minor, currency, status, channel, callback_url, authorization_url, access_code,
opening_until, expires_at, created_at
"""
_FIND_INTENT: Final = f"SELECT {_INTENT_COLUMNS} FROM payment_intents WHERE id = $1 AND buyer_id = $2"
_FIND_LIVE: Final = f"""
SELECT {_INTENT_COLUMNS} FROM payment_intents
WHERE order_id = $1 AND buyer_id = $2 AND status IN ('opening', 'pending')
"""
# Two at once: the second waits for the first here, and then finds its intent.
_RECORD_INTENT: Final = """
INSERT INTO payment_intents (id, order_id, buyer_id, reference, amount_minor, currency, status, channel, callback_url,
                             expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, 'opening', $7, $8, $9, $10)
ON CONFLICT (order_id) WHERE status IN ('opening', 'pending') DO NOTHING
"""
# The lease of the call: whoever sets it makes the call, under a reference that nobody used before.
_CLAIM_OPENING: Final = f"""
UPDATE payment_intents SET reference = $2, opening_until = $3
WHERE id = $1 AND status = 'opening' AND (opening_until IS NULL OR opening_until <= $4)
RETURNING {_INTENT_COLUMNS}
"""
_RECORD_REFERENCE: Final = """
INSERT INTO payment_references (reference, intent_id, buyer_id, settlement, created_at) VALUES ($1, $2, $3, $4, $5)
"""
_SAVE_OPENED: Final = """
UPDATE payment_intents SET status = 'pending', authorization_url = $3, access_code = $4, opening_until = NULL
WHERE id = $1 AND reference = $2 AND status = 'opening'
"""
_SAVE_UNOPENED: Final = """
UPDATE payment_intents SET opening_until = NULL WHERE id = $1 AND reference = $2 AND status = 'opening'
"""
_FIND_EMAIL: Final = "SELECT email FROM buyers WHERE user_id = $1"


async def find_own_order(uow: UnitOfWork, order_id: UUID, buyer_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_FIND_OWN_ORDER, order_id, buyer_id)


async def find_key(uow: UnitOfWork, caller_id: UUID, key: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_FIND_KEY, caller_id, key)


async def bind_key_once(
    uow: UnitOfWork, caller_id: UUID, key: UUID, fingerprint: bytes, intent_id: UUID, now: datetime
) -> None:
    await uow.execute(_BIND_KEY, caller_id, key, fingerprint, intent_id, now)


async def find_own_intent(uow: UnitOfWork, intent_id: UUID, buyer_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_FIND_INTENT, intent_id, buyer_id)


async def find_live_intent(uow: UnitOfWork, order_id: UUID, buyer_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_FIND_LIVE, order_id, buyer_id)


async def record_intent_once(uow: UnitOfWork, *values: Any) -> None:
    """(id, order, buyer, reference, amount, currency, channel, callback address, expires at, now)."""
    await uow.execute(_RECORD_INTENT, *values)


async def claim_opening(
    uow: UnitOfWork, intent_id: UUID, reference: str, until: datetime, now: datetime
) -> asyncpg.Record | None:
    """The intent, when this caller may make the call; None while another one is making it."""
    return await uow.fetch_row(_CLAIM_OPENING, intent_id, reference, until, now)


async def record_reference(
    uow: UnitOfWork, reference: str, intent_id: UUID, buyer_id: UUID, settlement: str, now: datetime
) -> None:
    await uow.execute(_RECORD_REFERENCE, reference, intent_id, buyer_id, settlement, now)


async def save_opened(uow: UnitOfWork, intent_id: UUID, reference: str, url: str, access_code: str) -> None:
    await uow.execute(_SAVE_OPENED, intent_id, reference, url, access_code)


async def save_unopened(uow: UnitOfWork, intent_id: UUID, reference: str) -> None:
    await uow.execute(_SAVE_UNOPENED, intent_id, reference)


async def find_email(uow: UnitOfWork, user_id: UUID) -> str | None:
    email: str | None = await uow.fetch_value(_FIND_EMAIL, user_id)
    return email


# --- charges ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderBehind:
    """The order that a reference of ours stands for, its row held until the end of the unit of work."""

    intent_id: UUID
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    commission_minor: int
    delivery_fee_minor: int
    expected: Expected


_LOCK_ORDER_BEHIND: Final = """
SELECT i.id AS intent_id, r.settlement, o.id, o.buyer_id, o.vendor_id, o.total_minor, o.commission_minor,
       o.delivery_fee_minor, o.status
FROM payment_references r
JOIN payment_intents i ON i.id = r.intent_id
JOIN payable_orders o ON o.id = i.order_id
WHERE r.reference = $1
FOR UPDATE OF o
"""
# A charge told without the gateway's id cannot be told from another one under the same reference: it is a repetition.
_CHARGE_KNOWN: Final = """
SELECT EXISTS (
    SELECT FROM charges WHERE identity = $1 OR (reference = $2 AND (gateway_id IS NULL OR $3::text IS NULL))
)
"""
_RECORD_CHARGE: Final = """
INSERT INTO charges (id, identity, reference, gateway_id, webhook_id, order_id, amount_minor, currency, channel, verdict,
                     settled_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
_SAVE_INTENT_PAID: Final = """
UPDATE payment_intents SET status = 'paid', paid_at = $2, channel = coalesce($3, channel), opening_until = NULL
WHERE id = $1
"""
_SAVE_INTENT_SPENT: Final = """
UPDATE payment_intents SET status = $2, opening_until = NULL WHERE id = $1 AND status <> 'paid'
"""


async def lock_order_behind(uow: UnitOfWork, reference: str) -> OrderBehind | None:
    """The order of a reference, locked: of two good charges at once exactly one covers it."""
    row = await uow.fetch_row(_LOCK_ORDER_BEHIND, reference)
    if row is None:
        return None
    expected = Expected(row["id"], row["total_minor"], row["settlement"], row["status"] == "paid_escrow")
    return OrderBehind(
        row["intent_id"],
        row["id"],
        row["buyer_id"],
        row["vendor_id"],
        row["commission_minor"],
        row["delivery_fee_minor"],
        expected,
    )


async def charge_is_known(uow: UnitOfWork, charge: Charge) -> bool:
    return bool(await uow.fetch_value(_CHARGE_KNOWN, charge.identity, charge.reference, charge.gateway_id))


async def record_charge(
    uow: UnitOfWork, charge: Charge, webhook_id: str, order_id: UUID | None, verdict: str, now: datetime
) -> UUID:
    charge_id = new_id()
    await uow.execute(
        _RECORD_CHARGE,
        charge_id,
        charge.identity,
        charge.reference,
        charge.gateway_id,
        webhook_id,
        order_id,
        charge.amount_minor,
        charge.currency,
        charge.channel,
        verdict,
        now,
    )
    return charge_id


async def save_intent_paid(uow: UnitOfWork, intent_id: UUID, now: datetime, channel: str | None) -> None:
    await uow.execute(_SAVE_INTENT_PAID, intent_id, now, channel)


async def save_intent_spent(uow: UnitOfWork, intent_id: UUID, status: str) -> None:
    await uow.execute(_SAVE_INTENT_SPENT, intent_id, status)


_RECORD_QUARANTINED: Final = """
INSERT INTO quarantined_charges (id, charge_id, reference, order_id, amount_minor, currency, reason, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'quarantined', $8)
"""


async def record_quarantined(
    uow: UnitOfWork, charge_id: UUID, charge: Charge, order_id: UUID | None, reason: str, now: datetime
) -> None:
    await uow.execute(
        _RECORD_QUARANTINED,
        new_id(),
        charge_id,
        charge.reference,
        order_id,
        charge.amount_minor,
        charge.currency,
        reason,
        now,
    )


# --- escrow -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HeldOrder:
    """The escrow of an order with its parties, its row held until the end of the unit of work."""

    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    charge_id: UUID
    dispute_sequence: int
    escrow: Escrow


_RECORD_ESCROW: Final = """
INSERT INTO escrows (order_id, buyer_id, vendor_id, charge_id, held_minor, locked_vendor_minor, locked_commission_minor,
                     locked_delivery_fee_minor, released_vendor_minor, released_commission_minor,
                     released_delivery_fee_minor, refunded_minor, dispute_sequence, held_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, 0, 0, $9)
"""
# The lock that orders releases, refunds and the freeze of one order: of two at once the second sees what the first left.
_LOCK_ESCROW: Final = """
SELECT order_id, buyer_id, vendor_id, charge_id, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor,
       released_vendor_minor, released_commission_minor, released_delivery_fee_minor, refunded_minor, disputed_at,
       dispute_sequence
FROM escrows WHERE order_id = $1 FOR UPDATE
"""
_SAVE_ESCROW: Final = """
UPDATE escrows SET locked_vendor_minor = $2, locked_commission_minor = $3, locked_delivery_fee_minor = $4,
    released_vendor_minor = $5, released_commission_minor = $6, released_delivery_fee_minor = $7, refunded_minor = $8
WHERE order_id = $1
"""
_SAVE_DISPUTE: Final = "UPDATE escrows SET disputed_at = $2, dispute_sequence = $3 WHERE order_id = $1"
_RECORD_RELEASE: Final = """
INSERT INTO releases (id, order_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, cause, released_by,
                      released_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""


async def find_order_exists(uow: UnitOfWork, order_id: UUID) -> bool:
    return await uow.fetch_row(_FIND_ORDER, order_id) is not None


async def record_escrow(uow: UnitOfWork, behind: OrderBehind, charge_id: UUID, escrow: Escrow, now: datetime) -> None:
    await uow.execute(
        _RECORD_ESCROW,
        behind.order_id,
        behind.buyer_id,
        behind.vendor_id,
        charge_id,
        escrow.locked.total_minor,
        escrow.locked.vendor_minor,
        escrow.locked.commission_minor,
        escrow.locked.delivery_fee_minor,
        now,
    )


async def lock_escrow(uow: UnitOfWork, order_id: UUID) -> HeldOrder | None:
    row = await uow.fetch_row(_LOCK_ESCROW, order_id)
    if row is None:
        return None
    locked = Parts(row["locked_vendor_minor"], row["locked_commission_minor"], row["locked_delivery_fee_minor"])
    released = Parts(row["released_vendor_minor"], row["released_commission_minor"], row["released_delivery_fee_minor"])
    escrow = Escrow(locked, released, row["refunded_minor"], row["disputed_at"] is not None)
    return HeldOrder(
        row["order_id"], row["buyer_id"], row["vendor_id"], row["charge_id"], row["dispute_sequence"], escrow
    )


async def save_escrow(uow: UnitOfWork, order_id: UUID, escrow: Escrow) -> None:
    await uow.execute(
        _SAVE_ESCROW,
        order_id,
        escrow.locked.vendor_minor,
        escrow.locked.commission_minor,
        escrow.locked.delivery_fee_minor,
        escrow.released.vendor_minor,
        escrow.released.commission_minor,
        escrow.released.delivery_fee_minor,
        escrow.refunded_minor,
    )


async def save_dispute(uow: UnitOfWork, order_id: UUID, disputed_at: datetime | None, sequence: int) -> None:
    await uow.execute(_SAVE_DISPUTE, order_id, disputed_at, sequence)


async def record_release(
    uow: UnitOfWork, release_id: UUID, order_id: UUID, parts: Parts, cause: str, released_by: UUID | None, now: datetime
) -> None:
    await uow.execute(
        _RECORD_RELEASE,
        release_id,
        order_id,
        parts.total_minor,
        parts.commission_minor,
        parts.delivery_fee_minor,
        parts.vendor_minor,
        cause,
        released_by,
        now,
    )


# --- refunds ----------------------------------------------------------------------------------------------------------

_RECORD_REFUND: Final = """
INSERT INTO refunds (id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9)
ON CONFLICT (id) DO NOTHING
RETURNING true
"""
_REFUND_COLUMNS: Final = """
SELECT f.id, f.kind, f.order_id, f.buyer_id, f.amount_minor, f.currency, f.status, f.gateway_refund_id, f.submitted_at,
       f.questions, c.reference, c.gateway_id
FROM refunds f JOIN charges c ON c.id = f.charge_id
"""
_LOCK_REFUND: Final = f"{_REFUND_COLUMNS} WHERE f.id = $1 FOR UPDATE OF f"
_LOCK_REFUND_OF_GATEWAY: Final = f"{_REFUND_COLUMNS} WHERE f.gateway_refund_id = $1 FOR UPDATE OF f"
_DUE_REFUNDS: Final = "SELECT id FROM refunds WHERE status = 'submitted' AND due_at <= $1 ORDER BY due_at LIMIT 50"
_SAVE_SUBMITTING: Final = "UPDATE refunds SET status = 'submitting', submitted_at = $2 WHERE id = $1"
_SAVE_SUBMITTED: Final = """
UPDATE refunds SET status = 'submitted', gateway_refund_id = $2, due_at = $3
WHERE id = $1 AND status IN ('pending', 'submitting')
"""
_SAVE_QUESTION: Final = "UPDATE refunds SET questions = questions + 1, due_at = $2 WHERE id = $1"
_SAVE_SETTLED: Final = """
UPDATE refunds SET status = 'settled', settled_at = $2, due_at = NULL,
    gateway_refund_id = coalesce(gateway_refund_id, $3), failure = NULL
WHERE id = $1
"""
_SAVE_FAILED: Final = """
UPDATE refunds SET status = 'failed', failure = $2, due_at = NULL, gateway_refund_id = coalesce(gateway_refund_id, $3)
WHERE id = $1
"""


async def record_refund_once(
    uow: UnitOfWork,
    refund_id: UUID,
    kind: RefundKind,
    charge_id: UUID,
    order_id: UUID | None,
    buyer_id: UUID | None,
    amount_minor: int,
    reason: str,
    now: datetime,
) -> bool:
    """Whether the refund is new. Its currency is the charge's; only naira are refunded here."""
    return bool(
        await uow.fetch_value(
            _RECORD_REFUND, refund_id, kind, charge_id, order_id, buyer_id, amount_minor, "NGN", reason, now
        )
    )


async def lock_refund(uow: UnitOfWork, refund_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_LOCK_REFUND, refund_id)


async def lock_refund_of_gateway(uow: UnitOfWork, gateway_refund_id: str) -> asyncpg.Record | None:
    return await uow.fetch_row(_LOCK_REFUND_OF_GATEWAY, gateway_refund_id)


async def list_due_refunds(uow: UnitOfWork, now: datetime) -> list[UUID]:
    return [row["id"] for row in await uow.fetch(_DUE_REFUNDS, now)]


async def save_refund_submitting(uow: UnitOfWork, refund_id: UUID, now: datetime) -> None:
    await uow.execute(_SAVE_SUBMITTING, refund_id, now)


async def save_refund_submitted(uow: UnitOfWork, refund_id: UUID, gateway_refund_id: str, due_at: datetime) -> None:
    await uow.execute(_SAVE_SUBMITTED, refund_id, gateway_refund_id, due_at)


async def save_refund_question(uow: UnitOfWork, refund_id: UUID, due_at: datetime) -> None:
    await uow.execute(_SAVE_QUESTION, refund_id, due_at)


async def save_refund_settled(uow: UnitOfWork, refund_id: UUID, now: datetime, gateway_refund_id: str | None) -> None:
    await uow.execute(_SAVE_SETTLED, refund_id, now, gateway_refund_id)


async def save_refund_failed(uow: UnitOfWork, refund_id: UUID, failure: str, gateway_refund_id: str | None) -> None:
    await uow.execute(_SAVE_FAILED, refund_id, failure, gateway_refund_id)
