"""SQL for the projections of buyers, orders and purchases, and for closing an order's payments."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import UnitOfWork
from payments.domain.transitions import PAYMENT

# An empty address was erased: a late event never restores it.
_SAVE_BUYER: Final = """
INSERT INTO buyers (user_id, email, heard_at) VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, heard_at = excluded.heard_at WHERE buyers.email <> ''
"""
_RECORD_ORDER: Final = Writes(
    """
recorded AS (
INSERT INTO payable_orders (id, buyer_id, vendor_id, total_minor, commission_minor, delivery_fee_minor, currency,
                            status, payment_due_at, number, purchase_id, heard_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'Processing', $8, $9, $10, $11)
ON CONFLICT (id) DO NOTHING RETURNING id
)
""",
    "EXISTS (SELECT FROM recorded) AS is_new",
    final="true",
)
_RECORD_PURCHASE: Final = """
WITH placed AS (
    INSERT INTO purchases (id, buyer_id, number, heard_at) VALUES ($1, $2, $3, $5) ON CONFLICT (id) DO NOTHING
    RETURNING id, buyer_id
)
INSERT INTO purchase_orders (purchase_id, position, order_id, buyer_id)
SELECT placed.id, place - 1, order_id, buyer_id
FROM placed, unnest($4::uuid[]) WITH ORDINALITY AS listed (order_id, place)
"""
_LOCK_ORDER: Final = "SELECT status FROM payable_orders WHERE id = $1 FOR UPDATE"
_CLOSE_ORDER: Final = "UPDATE payable_orders SET status = $2 WHERE id = $1 AND status = 'Processing'"
_CLOSE_INTENTS: Final = f"""
UPDATE payment_intents SET status = 'closed', opening_until = NULL
WHERE id IN (
    SELECT id FROM payment_intents WHERE order_id = $1 UNION ALL SELECT intent_id FROM intent_orders WHERE order_id = $1
) AND status IN {states_before(PAYMENT, "order_closed")}
RETURNING id, balance_minor
"""
_FIND_BUYER_OF_ORDER: Final = "SELECT buyer_id FROM payable_orders WHERE id = $1"
_ORDER_EXISTS: Final = "SELECT true FROM payable_orders WHERE id = $1"


async def save_buyer(uow: UnitOfWork, user_id: UUID, email: str, now: datetime) -> None:
    await uow.execute(_SAVE_BUYER, user_id, email, now)


class PlacedOrder(NamedTuple):
    """An order as placed, in the order of the insert's parameters; amounts in kobo."""

    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    total_minor: int
    commission_minor: int
    delivery_fee_minor: int
    currency: str
    payment_due_at: datetime
    number: str | None
    purchase_id: UUID | None


async def record_order_if_new(uow: UnitOfWork, order: PlacedOrder, now: datetime) -> None:
    await uow.write(_RECORD_ORDER, *order, now)


async def record_purchase_if_new(
    uow: UnitOfWork, purchase_id: UUID, buyer_id: UUID, number: str, order_ids: Sequence[UUID], now: datetime
) -> None:
    """Record the purchase with its orders, in its order. Their own events may arrive later."""
    await uow.execute(_RECORD_PURCHASE, purchase_id, buyer_id, number, order_ids, now)


async def lock_order_status(uow: UnitOfWork, order_id: UUID) -> str | None:
    status: str | None = await uow.fetch_value(_LOCK_ORDER, order_id)
    return status


async def save_order_closed(uow: UnitOfWork, order_id: UUID, status: Literal["cancelled", "expired"]) -> None:
    await change_state(uow, _CLOSE_ORDER, order_id, status)


async def close_live_intents(uow: UnitOfWork, order_id: UUID) -> list[UUID]:
    """Close the live intents that ask for the order, also together with others: the next one asks for another amount.

    Return those with a part of the buyer's balance.
    """
    return [row["id"] for row in await uow.fetch(_CLOSE_INTENTS, order_id) if row["balance_minor"]]


async def find_buyer_of_order(uow: UnitOfWork, order_id: UUID) -> UUID | None:
    buyer_id: UUID | None = await uow.fetch_value(_FIND_BUYER_OF_ORDER, order_id)
    return buyer_id


async def order_exists(uow: UnitOfWork, order_id: UUID) -> bool:
    return bool(await uow.fetch_value(_ORDER_EXISTS, order_id))
