"""SQL for writes. Each function runs one statement of the caller's unit of work and decides nothing.

Locks are taken in one order everywhere: the order's row first, then products by id. Timers, refunds and PINs of an order are
touched only by who holds the order's row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from common.database import UnitOfWork
from orders.domain.moves import State
from orders.domain.orders import Order, TimerKind, Windows, timer_of
from orders.domain.pins import IssuedPin
from orders.domain.quotes import Destination, Hub, Offer

# ------------------------------------------------------------------------------------------------------------- checkout

READ_FOR_CHECKOUT: Final = """
SELECT product.id AS product_id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
       vendor.commission_basis_points,
       hub.campus_id AS hub_campus_id, hub.delivery_fee_minor,
       EXISTS (SELECT FROM campuses WHERE id = $3 AND active) AS campus_known,
       standing.id AS standing_order_id, standing.fingerprint AS standing_fingerprint
FROM unnest($1::uuid[]) AS wanted (id)
LEFT JOIN products AS product ON product.id = wanted.id AND product.removed_at IS NULL
LEFT JOIN vendors AS vendor ON vendor.id = product.vendor_id
LEFT JOIN hubs AS hub ON hub.id = $2 AND hub.active
LEFT JOIN orders AS standing ON standing.buyer_id = $4 AND standing.idempotency_key = $5
"""

# One round trip: the order claims the key of its caller, and only then is stock taken, so that of twenty requests under one key
# nineteen wait for the first one's commit and touch no stock.
PLACE_ORDER: Final = """
WITH placed AS (
    INSERT INTO orders (
        id, buyer_id, vendor_id, campus_id, hub_id, status, currency, total_amount, subtotal_minor, delivery_fee_minor,
        commission_minor, refunded_minor, delivery_note, payment_due_at, idempotency_key, fingerprint, revision, created_at, updated_at
    ) VALUES ($1, $2, $3, $4, $5, 'Processing', 'NGN', $6, $7, $8, $9, 0, $10, $11, $12, $13, 1, $14, $14)
    ON CONFLICT (buyer_id, idempotency_key) DO NOTHING
    RETURNING id
), reserved AS (
    SELECT taken.product_id, taken.stock_left FROM placed, reserve_stock($16, $18, $19) AS taken
), items AS (
    INSERT INTO order_items (
        id, order_id, buyer_id, vendor_id, campus_id, position, product_id, name, quantity, unit_price_minor, line_total_minor
    )
    SELECT line.id, placed.id, $2, $3, $4, line.position, line.product_id, line.name, line.quantity, line.unit_price_minor,
           line.unit_price_minor * line.quantity
    FROM placed, unnest($15::uuid[], $16::uuid[], $17::text[], $18::integer[], $19::bigint[])
        WITH ORDINALITY AS line (id, product_id, name, quantity, unit_price_minor, position)
), timer AS (
    INSERT INTO order_timers (order_id, kind, due_at) SELECT placed.id, 'payment_window', $11 FROM placed
)
SELECT EXISTS (SELECT FROM placed) AS placed,
       (SELECT count(*) FROM reserved) AS reserved,
       ARRAY (SELECT product_id FROM reserved WHERE stock_left = 0 ORDER BY product_id) AS sold_out
"""

_STANDING_ORDER: Final = "SELECT id, fingerprint FROM orders WHERE buyer_id = $1 AND idempotency_key = $2"


class Standing(NamedTuple):
    """The order that an Idempotency-Key of the caller is bound to."""

    order_id: UUID
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class CheckoutFacts:
    """What a checkout is judged on: the catalog's offers, the destination, and the key's order, if it has one."""

    offers: dict[UUID, Offer]
    destination: Destination
    standing: Standing | None


async def read_for_checkout(
    uow: UnitOfWork,
    product_ids: Sequence[UUID],
    *,
    campus_id: UUID | None,
    hub_id: UUID | None,
    buyer_id: UUID,
    key: UUID,
) -> CheckoutFacts:
    """Reads without locking: what has moved until the order is placed is refused there."""
    rows = await uow.fetch(READ_FOR_CHECKOUT, product_ids, hub_id, campus_id, buyer_id, key)
    first = rows[0]
    hub = None if first["hub_campus_id"] is None else Hub(first["hub_campus_id"], first["delivery_fee_minor"])
    standing = first["standing_order_id"]
    return CheckoutFacts(
        offers={
            row["product_id"]: Offer(
                row["vendor_id"],
                row["campus_id"],
                row["name"],
                row["price_minor"],
                row["stock"],
                row["commission_basis_points"],
            )
            for row in rows
            if row["product_id"] is not None
        },
        destination=Destination(campus_id, first["campus_known"], hub_id, hub),
        standing=Standing(standing, first["standing_fingerprint"]) if standing else None,
    )


class Placed(NamedTuple):
    """What became of an attempt to place an order."""

    placed: bool
    reserved: int
    sold_out: list[UUID]


async def save_new_order(uow: UnitOfWork, row: dict[str, Any], *, key: UUID, fingerprint: bytes) -> Placed:
    """Claims the key, writes order, items and timer, and takes the stock; tells how far it came."""
    items = row["items"]
    taken = await uow.fetch_row(
        PLACE_ORDER,
        row["id"],
        row["buyer_id"],
        row["vendor_id"],
        row["campus_id"],
        row["hub_id"],
        row["total_amount"],
        row["subtotal_minor"],
        row["delivery_fee_minor"],
        row["commission_minor"],
        row["delivery_note"],
        row["payment_due_at"],
        key,
        fingerprint,
        row["created_at"],
        [item["id"] for item in items],
        [item["productId"] for item in items],
        [item["name"] for item in items],
        [item["quantity"] for item in items],
        [item["unitPriceMinor"] for item in items],
    )
    if taken is None:
        raise AssertionError("a SELECT without FROM has one row")
    return Placed(taken["placed"], taken["reserved"], taken["sold_out"])


async def find_standing_order(uow: UnitOfWork, buyer_id: UUID, key: UUID) -> Standing | None:
    """The order that was placed under the key."""
    row = await uow.fetch_row(_STANDING_ORDER, buyer_id, key)
    return None if row is None else Standing(row["id"], row["fingerprint"])


# ------------------------------------------------------------------------------------------------------------ the order

_ORDER_COLUMNS: Final = "id, buyer_id, vendor_id, campus_id, status, total_amount, refunded_minor, delivered_at"
_FIND_ORDER: Final = f"SELECT {_ORDER_COLUMNS} FROM orders WHERE id = $1"
_LOCK_ORDER: Final = f"SELECT {_ORDER_COLUMNS} FROM orders WHERE id = $1 FOR NO KEY UPDATE"
_SAVE_MOVE: Final = """
WITH moved AS (
    UPDATE orders SET status = $2, revision = revision + 1, updated_at = $3,
        delivered_at = CASE WHEN $2 = 'delivered' THEN coalesce(delivered_at, $3) ELSE delivered_at END
    WHERE id = $1
), ended AS (
    DELETE FROM order_timers WHERE order_id = $1 AND kind IS DISTINCT FROM $4::text
)
INSERT INTO order_timers (order_id, kind, due_at) SELECT $1, $4::text, $5::timestamptz WHERE $4::text IS NOT NULL
ON CONFLICT (order_id, kind) DO UPDATE SET due_at = excluded.due_at
"""


async def find_order(uow: UnitOfWork, order_id: UUID) -> Order | None:
    """The order, if the caller may see it."""
    return _order(await uow.fetch_row(_FIND_ORDER, order_id))


async def lock_order(uow: UnitOfWork, order_id: UUID) -> Order | None:
    """The order, held until the transaction ends: of two triggers at once, the second sees what the first has done."""
    return _order(await uow.fetch_row(_LOCK_ORDER, order_id))


async def save_move(uow: UnitOfWork, order: Order, to: State, now: datetime, windows: Windows) -> None:
    """Moves the locked order; its timer ends, and the one of the new state starts."""
    kind, due_at = timer_of(to, now, windows) or (None, None)
    await uow.execute(_SAVE_MOVE, order.id, to, now, kind, due_at)


def _order(row: Any) -> Order | None:
    if row is None:
        return None
    return Order(
        id=row["id"],
        buyer_id=row["buyer_id"],
        vendor_id=row["vendor_id"],
        campus_id=row["campus_id"],
        status=row["status"],
        total_minor=row["total_amount"],
        refunded_minor=row["refunded_minor"],
        delivered_at=row["delivered_at"],
    )


# ---------------------------------------------------------------------------------------------------------------- stock

_FREE_STOCK: Final = """
WITH locked AS MATERIALIZED (
    SELECT product.id, item.quantity FROM order_items AS item JOIN products AS product ON product.id = item.product_id
    WHERE item.order_id = $1 ORDER BY product.id FOR NO KEY UPDATE OF product
)
UPDATE products AS product SET stock = product.stock + locked.quantity
FROM locked WHERE product.id = locked.id
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          product.stock = locked.quantity AS turned, product.removed_at IS NOT NULL AS removed
"""
_TAKE_STOCK_AGAIN: Final = """
WITH locked AS MATERIALIZED (
    SELECT product.id, item.quantity FROM order_items AS item JOIN products AS product ON product.id = item.product_id
    WHERE item.order_id = $1 AND product.stock >= item.quantity AND product.removed_at IS NULL
    ORDER BY product.id FOR NO KEY UPDATE OF product
)
UPDATE products AS product SET stock = product.stock - locked.quantity
FROM locked
WHERE product.id = locked.id
  AND (SELECT count(*) FROM locked) = (SELECT count(*) FROM order_items WHERE order_id = $1)
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          product.stock = 0 AS turned, false AS removed
"""


class Shelf(NamedTuple):
    """A product whose stock was just changed. `turned`: it sold out, or came back, with this change."""

    product_id: UUID
    vendor_id: UUID
    campus_id: UUID
    name: str
    price_minor: int
    stock: int
    turned: bool
    removed: bool


async def free_stock(uow: UnitOfWork, order_id: UUID) -> list[Shelf]:
    """Puts the order's goods back on the shelf."""
    return _shelves(await uow.fetch(_FREE_STOCK, order_id))


async def take_stock_again(uow: UnitOfWork, order_id: UUID) -> list[Shelf]:
    """Takes the order's goods from the shelf a second time: all of them, or none when one is gone (an empty list)."""
    return _shelves(await uow.fetch(_TAKE_STOCK_AGAIN, order_id))


def _shelves(rows: Sequence[Any]) -> list[Shelf]:
    return sorted(Shelf(*row.values()) for row in rows)


# -------------------------------------------------------------------------------------------------------------- refunds

_RECORD_REFUND: Final = """
INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at)
VALUES ($1, $2, $3, $4, 'requested', false, $5)
"""
_LOCK_REFUND: Final = "SELECT status, counted FROM order_refunds WHERE id = $1 AND order_id = $2 FOR UPDATE"
_SAVE_REFUND: Final = """
WITH refund AS (
    UPDATE order_refunds SET status = $3, counted = true WHERE id = $1 RETURNING amount_minor
)
UPDATE orders SET refunded_minor = refunded_minor + refund.amount_minor, updated_at = $4, revision = revision + 1
FROM refund WHERE orders.id = $2 AND NOT $5
"""
_SAVE_FAILED_REFUND: Final = "UPDATE order_refunds SET status = 'failed' WHERE id = $1"


async def record_refund(
    uow: UnitOfWork, refund_id: UUID, order_id: UUID, amount_minor: int, reason: str, now: datetime
) -> None:
    """Remembers that a refund of the order is asked for; amounts in kobo."""
    await uow.execute(_RECORD_REFUND, refund_id, order_id, amount_minor, reason, now)


class Refund(NamedTuple):
    """A refund of an order: `counted` when it stands in the order's `refundedMinor` already."""

    status: str
    counted: bool


async def lock_refund(uow: UnitOfWork, refund_id: UUID, order_id: UUID) -> Refund | None:
    """The refund that this service asked for under that id, of that order."""
    row = await uow.fetch_row(_LOCK_REFUND, refund_id, order_id)
    return None if row is None else Refund(row["status"], row["counted"])


async def save_refund(
    uow: UnitOfWork, refund_id: UUID, order_id: UUID, refund: Refund, status: str, now: datetime
) -> None:
    """Sets the refund's status, and counts its amount into the order if it was not counted before."""
    await uow.execute(_SAVE_REFUND, refund_id, order_id, status, now, refund.counted)


async def save_failed_refund(uow: UnitOfWork, refund_id: UUID) -> None:
    """The gateway could not pay the refund out."""
    await uow.execute(_SAVE_FAILED_REFUND, refund_id)


# ----------------------------------------------------------------------------------------------------------------- PINs

_LOCK_PIN: Final = "SELECT issue, digest, wrong_tries FROM delivery_pins WHERE order_id = $1 FOR UPDATE"
_SAVE_PIN: Final = """
INSERT INTO delivery_pins (order_id, buyer_id, issue, digest, sealed, wrong_tries, issued_at)
VALUES ($1, $2, $3, $4, $5, 0, $6)
ON CONFLICT (order_id) DO UPDATE
SET issue = excluded.issue, digest = excluded.digest, sealed = excluded.sealed, wrong_tries = 0, issued_at = excluded.issued_at
"""
_COUNT_WRONG_TRY: Final = "UPDATE delivery_pins SET wrong_tries = wrong_tries + 1 WHERE order_id = $1"
_FIND_VERIFICATION: Final = """
SELECT fingerprint, attempts_remaining FROM delivery_verifications WHERE caller_id = $1 AND idempotency_key = $2
"""
_RECORD_VERIFICATION: Final = """
INSERT INTO delivery_verifications (caller_id, idempotency_key, order_id, fingerprint, attempts_remaining, tried_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (caller_id, idempotency_key) DO NOTHING
"""


class Verification(NamedTuple):
    """A try that was made under an Idempotency-Key; `attempts_remaining` is None when the PIN was right."""

    fingerprint: bytes
    attempts_remaining: int | None


async def lock_pin(uow: UnitOfWork, order_id: UUID) -> IssuedPin | None:
    """The order's PIN, held until the transaction ends: parallel guesses stand in line."""
    row = await uow.fetch_row(_LOCK_PIN, order_id)
    return None if row is None else IssuedPin(row["issue"], row["digest"], row["wrong_tries"])


async def save_pin(uow: UnitOfWork, order: Order, issue: int, *, digest: bytes, sealed: str, now: datetime) -> None:
    """The order's PIN of this issue, with all tries ahead of it."""
    await uow.execute(_SAVE_PIN, order.id, order.buyer_id, issue, digest, sealed, now)


async def count_wrong_try(uow: UnitOfWork, order_id: UUID) -> None:
    await uow.execute(_COUNT_WRONG_TRY, order_id)


async def find_verification(uow: UnitOfWork, caller_id: UUID, key: UUID) -> Verification | None:
    """The try that the caller made under the key."""
    row = await uow.fetch_row(_FIND_VERIFICATION, caller_id, key)
    return None if row is None else Verification(row["fingerprint"], row["attempts_remaining"])


async def record_verification_once(
    uow: UnitOfWork, caller_id: UUID, key: UUID, order_id: UUID, verification: Verification, now: datetime
) -> bool:
    """Binds the key to the try for good; False when the caller used it for another order at this very moment."""
    return await uow.execute(_RECORD_VERIFICATION, caller_id, key, order_id, *verification, now) == 1


# --------------------------------------------------------------------------------------------------------------- timers

_DUE_TIMERS: Final = "SELECT order_id, kind FROM order_timers WHERE due_at <= $1 ORDER BY due_at LIMIT $2"
_CLAIM_TIMER: Final = """
SELECT FROM order_timers AS timer JOIN orders ON orders.id = timer.order_id
WHERE timer.order_id = $1 AND timer.kind = $2 AND timer.due_at <= $3
FOR NO KEY UPDATE OF orders SKIP LOCKED
"""
_END_TIMER: Final = "DELETE FROM order_timers WHERE order_id = $1 AND kind = $2"


async def list_due_timers(uow: UnitOfWork, now: datetime, limit: int) -> list[tuple[UUID, TimerKind]]:
    """The timers that are due, oldest first; not claimed yet."""
    return [(row["order_id"], row["kind"]) for row in await uow.fetch(_DUE_TIMERS, now, limit)]


async def claim_timer(uow: UnitOfWork, order_id: UUID, kind: TimerKind, now: datetime) -> bool:
    """Holds the timer's order; False when the timer has ended, or somebody else is at the order just now."""
    return await uow.fetch_row(_CLAIM_TIMER, order_id, kind, now) is not None


async def end_timer(uow: UnitOfWork, order_id: UUID, kind: TimerKind) -> None:
    await uow.execute(_END_TIMER, order_id, kind)


# ---------------------------------------------------------------------------------------- what other services have said

_SAVE_VENDOR: Final = """
INSERT INTO vendors AS known (id, business_name, campus_id, commission_basis_points, sequence) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (id) DO UPDATE SET business_name = excluded.business_name, campus_id = excluded.campus_id,
    commission_basis_points = excluded.commission_basis_points, sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""
_RENAME_VENDOR_ON_PRODUCTS: Final = """
WITH changed AS MATERIALIZED (
    SELECT id FROM products WHERE vendor_id = $1 AND (vendor_name, campus_id) IS DISTINCT FROM ($2, $3)
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE products SET vendor_name = $2, campus_id = $3, updated_at = $4 FROM changed WHERE products.id = changed.id
"""
_SAVE_CAMPUS: Final = """
INSERT INTO campuses AS known (id, name, active, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, active = excluded.active, sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""
_SAVE_HUB: Final = """
INSERT INTO hubs AS known (id, campus_id, name, delivery_fee_minor, active, sequence) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET campus_id = excluded.campus_id, name = excluded.name,
    delivery_fee_minor = excluded.delivery_fee_minor, active = excluded.active, sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""


async def save_vendor(
    uow: UnitOfWork,
    vendor_id: UUID,
    business_name: str,
    campus_id: UUID,
    commission_basis_points: int | None,
    sequence: int,
) -> bool:
    """Whether this is newer than what was known of the vendor."""
    row = (vendor_id, business_name, campus_id, commission_basis_points, sequence)
    return await uow.execute(_SAVE_VENDOR, *row) == 1


async def rename_vendor_on_products(
    uow: UnitOfWork, vendor_id: UUID, business_name: str, campus_id: UUID, now: datetime
) -> None:
    """Products show their vendor's name and stand on their vendor's campus."""
    await uow.execute(_RENAME_VENDOR_ON_PRODUCTS, vendor_id, business_name, campus_id, now)


async def save_campus(uow: UnitOfWork, campus_id: UUID, name: str, active: bool, sequence: int) -> bool:
    """Whether this is newer than what was known of the campus."""
    return await uow.execute(_SAVE_CAMPUS, campus_id, name, active, sequence) == 1


async def save_hub(
    uow: UnitOfWork, hub_id: UUID, campus_id: UUID, name: str, delivery_fee_minor: int, active: bool, sequence: int
) -> bool:
    """Whether this is newer than what was known of the hub; the fee in kobo."""
    return await uow.execute(_SAVE_HUB, hub_id, campus_id, name, delivery_fee_minor, active, sequence) == 1


# ------------------------------------------------------------------------------------------------------------ demo data

_SAVE_PRODUCT_ONCE: Final = """
INSERT INTO products (
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
    rating_sum, rating_count, revision, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'NGN', $9, '[]', 0, 0, 1, $10, $10)
ON CONFLICT (id) DO NOTHING
"""


async def save_product_once(
    uow: UnitOfWork, shelf: Shelf, vendor_name: str, description: str, category: str, created_at: datetime
) -> bool:
    """Puts a product on the shelf; False when it stands there already."""
    return (
        await uow.execute(
            _SAVE_PRODUCT_ONCE,
            shelf.product_id,
            shelf.vendor_id,
            vendor_name,
            shelf.campus_id,
            shelf.name,
            description,
            category,
            shelf.price_minor,
            shelf.stock,
            created_at,
        )
        == 1
    )
