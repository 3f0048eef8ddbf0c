"""SQL for payment intents, their references and their idempotency keys."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.idempotent_commands import IdempotentCommand
from common.database.state_changes import states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused
from payments.domain.bank_transfers import TransferAccount
from payments.domain.transitions import PAYMENT, PaymentStatus
from providers.gateways import GatewayName


class OrderToPay(NamedTuple):
    """The projection of a buyer's order; the total in kobo."""

    id: UUID
    total_minor: int
    currency: str
    status: str
    payment_due_at: datetime
    purchase_id: UUID | None


class BoundKey(NamedTuple):
    """The request and the intent that an idempotency key is bound to."""

    fingerprint: bytes
    intent_id: UUID


class Requested(NamedTuple):
    """The orders that a request asks to pay, in the order of the purchase, and the binding of its idempotency key.

    `orders` is empty for an unknown order or purchase; None stands for an order of a known purchase whose event has not
    arrived. There is no `email` before the buyer's profile has arrived.
    """

    orders: tuple[OrderToPay | None, ...]
    email: str | None
    bound: BoundKey | None


class Intent(NamedTuple):
    """A payment intent; amounts in kobo. The buyer's balance pays `balance_minor` of the amount.

    `order_ids` are those of an intent for several orders of a purchase. The `transfer_...` fields are the account for a
    bank transfer, where the gateway gave one.
    """

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
    purchase_id: UUID | None = None
    transfer_bank_name: str | None = None
    transfer_account_number: str | None = None
    transfer_account_name: str | None = None
    transfer_amount_minor: int | None = None
    transfer_expires_at: datetime | None = None
    balance_minor: int = 0
    order_ids: Sequence[UUID] = ()

    @property
    def gateway_minor(self) -> int:
        """The part that the gateway is asked for."""
        return self.amount_minor - self.balance_minor


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
    purchase_id: UUID | None
    balance_minor: int


class UnpaidAttempt(NamedTuple):
    """An attempt to pay whose outcome has not arrived; `queries` counts those to the gateway."""

    id: UUID
    references: Sequence[str]
    queries: int
    expires_at: datetime
    gateway: GatewayName


_FIND_REQUESTED: Final = """
SELECT {listed}, (SELECT email FROM buyers WHERE user_id = $2), k.fingerprint, k.intent_id,
       o.id, o.total_minor, o.currency, o.status, o.payment_due_at, o.purchase_id
FROM (SELECT) AS request
{joined}
LEFT JOIN payment_intent_keys k ON k.caller_id = $2 AND k.idempotency_key = $3
"""
_FIND_ORDER_AND_KEY: Final = _FIND_REQUESTED.format(
    listed="o.id", joined="LEFT JOIN payable_orders o ON o.id = $1 AND o.buyer_id = $2"
)
_FIND_PURCHASE_AND_KEY: Final = f"""{
    _FIND_REQUESTED.format(
        listed="listed.order_id",
        joined="LEFT JOIN purchase_orders listed ON listed.purchase_id = $1 AND listed.buyer_id = $2 "
        "LEFT JOIN payable_orders o ON o.id = listed.order_id AND o.buyer_id = $2",
    )
} ORDER BY listed.position"""
_BIND_KEY: Final = """
INSERT INTO payment_intent_keys (caller_id, idempotency_key, fingerprint, intent_id, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (caller_id, idempotency_key) DO NOTHING
"""
_RECORDED_COLUMNS: Final = """
id, order_id, reference, amount_minor, currency, status, channel, callback_url, authorization_url, access_code,
expires_at, gateway, purchase_id, transfer_bank_name, transfer_account_number, transfer_account_name,
transfer_amount_minor, transfer_expires_at, balance_minor
"""
_INTENT_COLUMNS: Final = f"""
{_RECORDED_COLUMNS}, ARRAY (
    SELECT named.order_id FROM intent_orders named WHERE named.intent_id = payment_intents.id ORDER BY named.position
)
"""
_FIND_INTENT: Final = f"SELECT {_INTENT_COLUMNS} FROM payment_intents WHERE id = $1 AND buyer_id = $2"
_FIND_LIVE: Final = f"""
SELECT {_INTENT_COLUMNS} FROM payment_intents
WHERE order_id = $1 AND buyer_id = $2 AND status IN ('opening', 'pending')
"""
# Of two concurrent requests the second waits here for the first, and then finds its intent.
_RECORD_INTENT: Final = f"""
WITH made AS (
    INSERT INTO payment_intents (id, order_id, buyer_id, reference, amount_minor, currency, status, channel,
                                 callback_url, expires_at, created_at, opening_until, gateway, purchase_id,
                                 balance_minor)
    VALUES ($1, $2, $3, $4, $5, $6, 'opening', $7, $8, $9, $10, $11, $12, $15, $18)
    ON CONFLICT (order_id) WHERE status IN ('opening', 'pending') DO NOTHING
    RETURNING {_RECORDED_COLUMNS}
), named AS (
    INSERT INTO intent_orders (intent_id, position, order_id, amount_minor, buyer_id)
    SELECT made.id, place, asked.order_id, asked.total_minor, $3
    FROM made, unnest($16::uuid[], $17::bigint[]) WITH ORDINALITY AS asked (order_id, total_minor, place)
), referenced AS (
    INSERT INTO payment_references (reference, intent_id, buyer_id, settlement, created_at, gateway)
    SELECT reference, id, $3, (amount_minor - balance_minor)::text, $10, gateway FROM made
), bound AS (
    INSERT INTO payment_intent_keys (caller_id, idempotency_key, fingerprint, intent_id, created_at)
    SELECT $3, $13, $14, id, $10 FROM made
)
SELECT {_RECORDED_COLUMNS}, $16::uuid[] FROM made
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
# A crash of the database that loses this commit equals a crash before it: the reference is committed, so that its
# charge is settled, and the next request opens the payment again.
_SAVE_OPENED: Final = f"""
WITH opened AS (
UPDATE payment_intents SET status = 'pending', authorization_url = $3, access_code = $4, opening_until = NULL,
    query_at = $5, transfer_bank_name = $6, transfer_account_number = $7, transfer_account_name = $8,
    transfer_amount_minor = $9, transfer_expires_at = CASE WHEN $10::timestamptz IS NOT NULL
        THEN least($10, expires_at) END
WHERE id = $1 AND reference = $2 AND status IN {states_before(PAYMENT, "opened_at_gateway")}
RETURNING {_INTENT_COLUMNS}
)
SELECT opened.* FROM opened CROSS JOIN (SELECT set_config('synchronous_commit', 'off', true)) AS committed
"""
_SAVE_UNOPENED: Final = """
UPDATE payment_intents SET opening_until = NULL WHERE id = $1 AND reference = $2 AND status = 'opening'
"""
_RENEW_REFERENCE: Final = """
UPDATE payment_intents SET reference = $3, opening_until = $4 WHERE id = $1 AND reference = $2 AND status = 'opening'
"""
# Locks the order, as settling and closing its payments do.
_LOCK_ATTEMPT: Final = """
SELECT i.id, i.order_id, i.buyer_id, i.reference, i.amount_minor, i.currency, i.status, o.number, i.purchase_id,
       i.balance_minor
FROM payment_references r JOIN payment_intents i ON i.id = r.intent_id JOIN payable_orders o ON o.id = i.order_id
WHERE r.reference = $1 FOR UPDATE OF o
"""
_SAVE_FAILED: Final = f"""
UPDATE payment_intents SET status = 'failed', failure_reason = $2, failed_at = $3
WHERE id = $1 AND status IN {states_before(PAYMENT, "declined")}
"""
# Failed attempts stay due: the payer may try again on the gateway's page. The account and the page of an intent have a
# reference each.
_CLAIM_UNPAID: Final = """
SELECT id, CASE WHEN transfer_account_number IS NULL THEN ARRAY[reference] ELSE ARRAY (
    SELECT r.reference FROM payment_references r WHERE r.intent_id = payment_intents.id
    ORDER BY r.created_at DESC, r.reference LIMIT 10
) END, queries, expires_at, gateway FROM payment_intents
WHERE query_at <= $1 AND status IN ('pending', 'failed') ORDER BY query_at LIMIT 100 FOR UPDATE SKIP LOCKED
"""
_SAVE_QUERY: Final = "UPDATE payment_intents SET queries = queries + 1, query_at = $2 WHERE id = $1"
_FIND_EMAIL: Final = "SELECT email FROM buyers WHERE user_id = $1"


async def find_requested(
    uow: UnitOfWork, order_id: UUID | None, purchase_id: UUID | None, buyer_id: UUID, key: UUID
) -> Requested:
    """Return the buyer's order, or the orders of the buyer's purchase, with the binding of the key."""
    if purchase_id is not None:
        rows = await uow.fetch(_FIND_PURCHASE_AND_KEY, purchase_id, buyer_id, key)
    else:
        rows = await uow.fetch(_FIND_ORDER_AND_KEY, order_id, buyer_id, key)
    listed = [row for row in rows if row[0] is not None]
    orders = tuple(None if row["id"] is None else OrderToPay(*row[4:]) for row in listed)
    _, email, fingerprint, intent_id = rows[0][:4]
    return Requested(orders, email, None if intent_id is None else BoundKey(fingerprint, intent_id))


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
    orders: Sequence[OrderToPay],
    command: IdempotentCommand,
    until: datetime,
    now: datetime,
) -> Intent | None:
    """Return the intent for these orders, whose gateway this caller may call until `until`, with its reference and the
    request's key.

    None when the first order has a live one. Raises IdempotencyKeyReused when a concurrent request bound the key to
    another order.
    """
    several = orders if len(orders) > 1 else ()
    try:
        row = await uow.fetch_row(
            _RECORD_INTENT,
            intent.id,
            intent.order_id,
            command.user_id,
            intent.reference,
            intent.amount_minor,
            intent.currency,
            intent.channel,
            intent.callback_url,
            intent.expires_at,
            now,
            until,
            intent.gateway,
            command.key,
            command.fingerprint,
            intent.purchase_id,
            [order.id for order in several],
            [order.total_minor for order in several],
            intent.balance_minor,
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


async def renew_reference(uow: UnitOfWork, intent: Intent, reference: str, until: datetime) -> bool:
    """Return whether the intent still opens under its reference, which is replaced; the lease ends at `until`."""
    return bool(await uow.execute(_RENEW_REFERENCE, intent.id, intent.reference, reference, until))


async def save_opened(
    fetch: Callable[..., Awaitable[list[asyncpg.Record]]],
    intent_id: UUID,
    reference: str,
    url: str,
    access_code: str,
    query_at: datetime,
    account: TransferAccount | None = None,
) -> Intent | None:
    """Mark the intent `pending`; the gateway is queried at `query_at` unless its webhook arrives first.

    The account to transfer to is shown no longer than the orders can be paid. None when the intent is no longer opening
    under this reference. `fetch` is that of a unit of work, or `commit_alone` of a database.
    """
    rows = await fetch(
        _SAVE_OPENED,
        intent_id,
        reference,
        url,
        access_code,
        query_at,
        *(
            (None,) * 5
            if account is None
            else (
                account.bank_name,
                account.account_number,
                account.account_name,
                account.amount_minor,
                account.expires_at,
            )
        ),
    )
    return _intent(rows[0] if rows else None)


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
