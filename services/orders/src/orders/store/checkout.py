"""Reads and writes of a checkout.

**Checkout runs under the caller's policies.** The API role inserts order, items and timer. Only `reserve_stock` runs
with the owner's rights: it reserves all products at the price just read, or none. Checkout needs five round trips:
begin, read, place, outbox, commit. The read needs no lock, so a rejected buyer never waits for a hot product. The
placing statement claims the Idempotency-Key before it reserves stock, products by id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.flash_sales import RunningSale
from orders.domain.orders import NewOrder
from orders.domain.quotes import Destination, Hub, Offer
from orders.store.erasure import refuse_during_erasure

# The checkouts of one buyer run one after the other, so that the limits of unpaid orders see all of them. What is read here
# is from before the wait; `_PLACE_ORDER` reads again.
_READ_FOR_CHECKOUT: Final = """
SELECT product.id AS product_id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
       vendor.commission_basis_points, vendor.owner_user_id, vendor.business_name AS vendor_name,
       coalesce(vendor.suspended, false) AS vendor_suspended,
       (SELECT contact.short_name FROM user_contacts AS contact WHERE contact.user_id = $4) AS buyer_name,
       hub.campus_id AS hub_campus_id, hub.delivery_fee_minor,
       EXISTS (SELECT FROM campuses WHERE id = $3 AND active) AS campus_known,
       sale.id AS sale_id, sale.price_minor AS sale_price_minor, sale.quantity - sale.sold AS sale_remaining,
       sale.per_buyer_limit AS sale_limit,
       CASE WHEN sale.id IS NULL THEN 0 ELSE (
           SELECT coalesce(sum(units.quantity), 0) FROM flash_sale_units AS units
           WHERE units.sale_id = sale.id AND units.buyer_id = $4 AND NOT units.returned
       ) END AS sale_bought,
       earlier.id AS earlier_order_id, earlier.fingerprint AS earlier_fingerprint
FROM (SELECT pg_advisory_xact_lock(hashtextextended('unpaid:' || $4::uuid, 0))) AS alone CROSS JOIN unnest($1::uuid[]) AS requested (id)
LEFT JOIN products AS product ON product.id = requested.id AND product.removed_at IS NULL AND NOT product.draft
LEFT JOIN vendors AS vendor ON vendor.id = product.vendor_id
LEFT JOIN flash_sales AS sale ON sale.product_id = product.id AND sale.starts_at <= $6 AND sale.ends_at > $6
    AND sale.approved_at IS NOT NULL
LEFT JOIN hubs AS hub ON hub.id = $2 AND hub.active
    AND NOT EXISTS (SELECT FROM campuses AS closed WHERE closed.id = hub.campus_id AND NOT closed.active)
LEFT JOIN orders AS earlier ON earlier.buyer_id = $4 AND earlier.idempotency_key = $5
"""

# One round trip: the order claims the caller's key before it reserves stock. Of twenty requests under one key, nineteen
# wait for the first one's commit and touch no stock. A conflict is of the key or of the order's number.
_PLACE_ORDER: Final = """
WITH placed AS (
    INSERT INTO orders (
        id, number, buyer_id, vendor_id, campus_id, hub_id, status, currency, total_amount, subtotal_minor, delivery_fee_minor,
        commission_minor, refunded_minor, delivery_note, payment_due_at, idempotency_key, fingerprint, revision, created_at, updated_at
    ) VALUES ($1, $21, $2, $3, $4, $5, 'Processing', 'NGN', $6, $7, $8, $9, 0, $10, $11, $12, $13, 1, $14, $14)
    ON CONFLICT DO NOTHING
    RETURNING id
), reserved AS (
    SELECT stock.product_id, stock.stock_left FROM placed, reserve_stock($16, $18, $20) AS stock
), held AS (
    SELECT item.product_id, sum(item.quantity) AS pieces
    FROM orders AS unpaid JOIN order_items AS item ON item.order_id = unpaid.id
    WHERE unpaid.buyer_id = $2 AND unpaid.status = 'Processing' AND item.product_id = ANY ($16)
    GROUP BY item.product_id
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
       (SELECT count(*) FROM orders AS unpaid WHERE unpaid.buyer_id = $2 AND unpaid.status = 'Processing') AS unpaid_orders,
       ARRAY (SELECT product_id FROM reserved ORDER BY product_id) AS product_ids,
       ARRAY (SELECT stock_left FROM reserved ORDER BY product_id) AS stocks_left,
       ARRAY (SELECT coalesce(pieces, 0)::integer FROM reserved LEFT JOIN held USING (product_id) ORDER BY product_id) AS pieces_held
"""

_ORDER_BY_KEY: Final = "SELECT id, fingerprint FROM orders WHERE buyer_id = $1 AND idempotency_key = $2"


class IdempotencyRecord(NamedTuple):
    """The order that is bound to an Idempotency-Key of the caller."""

    order_id: UUID
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class CheckoutFacts:
    """The offers, the destination, the order that is already bound to the key, and the names for the response.

    `vendor_name` is that of the first offer; an order has one vendor.
    """

    offers: dict[UUID, Offer]
    destination: Destination
    earlier: IdempotencyRecord | None
    vendor_name: str | None
    buyer_name: str | None


async def read_for_checkout(
    uow: UnitOfWork,
    product_ids: Sequence[UUID],
    *,
    campus_id: UUID | None,
    hub_id: UUID | None,
    buyer_id: UUID,
    key: UUID,
    now: datetime,
) -> CheckoutFacts:
    """Read without locks; `save_new_order` rejects changes that happen in between."""
    rows = await uow.fetch(_READ_FOR_CHECKOUT, product_ids, hub_id, campus_id, buyer_id, key, now)
    first = rows[0]
    hub = None if first["hub_campus_id"] is None else Hub(first["hub_campus_id"], first["delivery_fee_minor"])
    earlier_id = first["earlier_order_id"]
    return CheckoutFacts(
        offers={
            row["product_id"]: Offer(
                row["vendor_id"],
                row["campus_id"],
                row["name"],
                row["price_minor"],
                row["stock"],
                row["commission_basis_points"],
                row["vendor_suspended"],
                _sale(row),
                row["owner_user_id"],
            )
            for row in rows
            if row["product_id"] is not None
        },
        destination=Destination(campus_id, first["campus_known"], hub_id, hub),
        earlier=IdempotencyRecord(earlier_id, first["earlier_fingerprint"]) if earlier_id else None,
        vendor_name=first["vendor_name"],
        buyer_name=first["buyer_name"],
    )


def _sale(row: Any) -> RunningSale | None:
    if row["sale_id"] is None:
        return None
    return RunningSale(
        row["sale_id"], row["sale_price_minor"], row["sale_remaining"], row["sale_limit"], row["sale_bought"]
    )


class ReservedStock(NamedTuple):
    """The stock of a product after a reservation, and the pieces in the buyer's other unpaid orders."""

    stock_left: int
    held: int


class Placed(NamedTuple):
    """The result of an attempt to place an order; `unpaid_orders` are the buyer's others."""

    placed: bool
    unpaid_orders: int
    reserved: dict[UUID, ReservedStock]


async def save_new_order(
    uow: UnitOfWork, order: NewOrder, regular_prices_minor: Sequence[int], *, key: UUID, fingerprint: bytes
) -> Placed:
    """Claim the key, insert order, items and timer, and reserve the stock at the regular prices (kobo).

    Raises ErasureInProgress.
    """
    items = order.items
    with refuse_during_erasure():
        row = await uow.fetch_row(
            _PLACE_ORDER,
            order.id,
            order.buyer_id,
            order.vendor_id,
            order.campus_id,
            order.hub_id,
            order.total_minor,
            order.subtotal_minor,
            order.delivery_fee_minor,
            order.commission_minor,
            order.delivery_note,
            order.payment_due_at,
            key,
            fingerprint,
            order.created_at,
            [item.id for item in items],
            [item.product_id for item in items],
            [item.name for item in items],
            [item.quantity for item in items],
            [item.unit_price_minor for item in items],
            list(regular_prices_minor),
            order.number,
        )
    if row is None:
        raise AssertionError("a SELECT without FROM returns one row")
    placed, unpaid_orders, *reserved = row
    stocks = {product_id: ReservedStock(*stock) for product_id, *stock in zip(*reserved, strict=True)}
    return Placed(placed, unpaid_orders, stocks)


async def find_order_by_key(uow: UnitOfWork, buyer_id: UUID, key: UUID) -> IdempotencyRecord | None:
    """Return the order that was placed under the key, if any."""
    row = await uow.fetch_row(_ORDER_BY_KEY, buyer_id, key)
    return None if row is None else IdempotencyRecord(*row)
