"""SQL for writes: payment intents, their references and keys."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database import UnitOfWork

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
) -> bool:
    """Whether the key was free; otherwise it stays bound to what it was."""
    return bool(await uow.execute(_BIND_KEY, caller_id, key, fingerprint, intent_id, now))


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
