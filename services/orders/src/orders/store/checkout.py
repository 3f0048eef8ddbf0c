"""Reads and writes of a checkout.

**Checkout runs under the caller's policies.** The API role inserts order, items and timer. Only `reserve_variants` runs
with the owner's rights: it reserves all products at the price just read, or none. Checkout of an order needs four round
trips: begin, read, place with its event, commit. The read needs no lock, so a rejected buyer never waits for a hot
product. The placing statement claims the Idempotency-Key before it reserves stock, products by id. A purchase has its
savepoint and its events more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.outbox import Writes
from common.database.unit_of_work import UnitOfWork
from common.standard_endpoints.stop_routes import IN_FORCE
from contracts.event import Event
from orders.domain.checkouts import Destinations
from orders.domain.flash_sales import RunningSale
from orders.domain.orders import NewOrder
from orders.domain.purchases import NewPurchase
from orders.domain.quotes import Destination, Hub, Offer, OfferedVariant, RequestedItem
from orders.store.erasure import refuse_during_erasure

# The checkouts of one buyer run one after the other, so that the limits of unpaid orders see all of them. What is read
# here is from before the wait; `_PLACE_ORDERS` reads again.
_READ_FOR_CHECKOUT: Final = f"""
SELECT product.id AS product_id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
       vendor.commission_basis_points, vendor.owner_user_id, vendor.business_name AS vendor_name,
       coalesce(vendor.suspended, false) AS vendor_suspended,
       CASE WHEN vendor.absent_until > $6 THEN vendor.absent_until END AS vendor_absent_until,
       (SELECT contact.short_name FROM user_contacts AS contact WHERE contact.user_id = $4) AS buyer_name,
       hub.campus_id AS hub_campus_id, hub.delivery_fee_minor,
       EXISTS (SELECT FROM campuses WHERE id = $3 AND active) AS campus_known,
       sale.id AS sale_id, sale.price_minor AS sale_price_minor, sale.quantity - sale.sold AS sale_remaining,
       sale.per_buyer_limit AS sale_limit,
       CASE WHEN sale.id IS NULL THEN 0 ELSE (
           SELECT coalesce(sum(units.quantity), 0) FROM flash_sale_units AS units
           WHERE units.sale_id = sale.id AND units.buyer_id = $4 AND NOT units.returned
       ) END AS sale_bought,
       earlier.id AS earlier_id, earlier.fingerprint AS earlier_fingerprint, product.options <> '[]' AS has_variants,
       variant.id AS variant_id, variant.option_values, variant.price_minor AS variant_price_minor,
       variant.stock AS variant_stock, stop.message AS stop_message, stop.expires_at AS stopped_until
FROM (SELECT pg_advisory_xact_lock(hashtextextended('unpaid:' || $4::uuid, 0))) AS alone
CROSS JOIN unnest($1::uuid[], $7::uuid[]) AS requested (id, variant_id)
LEFT JOIN products AS product ON product.id = requested.id AND product.removed_at IS NULL AND NOT product.draft
    AND product.hidden_at IS NULL
LEFT JOIN vendors AS vendor ON vendor.id = product.vendor_id
LEFT JOIN product_variants AS variant ON variant.id = requested.variant_id AND variant.product_id = product.id
    AND variant.active
LEFT JOIN flash_sales AS sale ON sale.product_id = product.id AND sale.starts_at <= $6 AND sale.ends_at > $6
    AND sale.variant_id IS NOT DISTINCT FROM variant.id AND sale.approved_at IS NOT NULL
LEFT JOIN LATERAL (
    SELECT message, expires_at FROM operation_stops WHERE {IN_FORCE.format(now="$6")} LIMIT 1
) AS stop ON true
"""
_HUB: Final = """
LEFT JOIN hubs AS hub ON hub.id = {hub_id} AND hub.active
    AND NOT EXISTS (SELECT FROM campuses AS closed WHERE closed.id = hub.campus_id AND NOT closed.active)
"""
_READ_FOR_ORDER: Final = f"""{_READ_FOR_CHECKOUT} {_HUB.format(hub_id="$2")}
LEFT JOIN orders AS earlier ON earlier.buyer_id = $4 AND earlier.idempotency_key = $5
"""
_HUB_OF_VENDOR: Final = """
coalesce(
    (SELECT delivery.hub_id FROM unnest($8::uuid[], $9::uuid[]) AS delivery (vendor_id, hub_id)
     WHERE delivery.vendor_id = product.vendor_id), $2
)
"""
_READ_FOR_PURCHASE: Final = f"""{_READ_FOR_CHECKOUT} {_HUB.format(hub_id=_HUB_OF_VENDOR)}
LEFT JOIN purchases AS earlier ON earlier.buyer_id = $4 AND earlier.idempotency_key = $5
"""

# One round trip: the key is claimed before the stock is reserved, by the purchase, else by the only order. Of twenty
# requests under one key, nineteen wait for the first one's commit and touch no stock. A conflict is of the key or of a
# number; then nothing is reserved. All products are locked at once, by id, whatever their vendors.
_PLACE_ORDERS: Final = Writes(
    """
purchase AS (
    INSERT INTO purchases (id, number, buyer_id, idempotency_key, fingerprint, created_at)
    SELECT $1::uuid, $2, $3::uuid, $4::uuid, $5::bytea, $6::timestamptz WHERE $1 IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING id
), placed AS (
    INSERT INTO orders (
        id, number, buyer_id, vendor_id, campus_id, hub_id, status, currency, total_amount, subtotal_minor,
        delivery_fee_minor, commission_minor, refunded_minor, delivery_note, payment_due_at, idempotency_key,
        fingerprint, revision, created_at, updated_at, purchase_id
    )
    SELECT new_order.id, new_order.number, $3, new_order.vendor_id, new_order.campus_id, new_order.hub_id, 'Processing',
        'NGN', new_order.total_minor, new_order.subtotal_minor, new_order.delivery_fee_minor,
        new_order.commission_minor, 0, new_order.delivery_note, $7::timestamptz, CASE WHEN $1 IS NULL THEN $4
            ELSE new_order.id END, $5, 1, $6, $6, $1
    FROM unnest(
        $8::uuid[], $9::text[], $10::uuid[], $11::uuid[], $12::uuid[], $13::bigint[], $14::bigint[], $15::bigint[],
        $16::bigint[], $17::text[]
    ) AS new_order (
        id, number, vendor_id, campus_id, hub_id, total_minor, subtotal_minor, delivery_fee_minor, commission_minor,
        delivery_note
    )
    WHERE $1 IS NULL OR EXISTS (SELECT FROM purchase)
    ON CONFLICT DO NOTHING
    RETURNING id, vendor_id, campus_id
), complete AS (
    SELECT count(*) = cardinality($8) AS holds FROM placed
), reserved AS (
    SELECT stock.product_id, stock.stock_left
    FROM complete CROSS JOIN LATERAL (SELECT * FROM reserve_variants($20, $25, $22, $24) WHERE complete.holds) AS stock
), held AS (
    SELECT item.product_id, sum(item.quantity) AS pieces
    FROM orders AS unpaid JOIN order_items AS item ON item.order_id = unpaid.id
    WHERE unpaid.buyer_id = $3 AND unpaid.status = 'Processing' AND item.product_id = ANY ($20)
    GROUP BY item.product_id
), items AS (
    INSERT INTO order_items (
        id, order_id, buyer_id, vendor_id, campus_id, position, product_id, name, quantity, unit_price_minor,
        line_total_minor, variant_id
    )
    SELECT line.id, placed.id, $3, placed.vendor_id, placed.campus_id, line.position, line.product_id, line.name,
           line.quantity, line.unit_price_minor, line.unit_price_minor * line.quantity, line.variant_id
    FROM placed JOIN unnest($18::uuid[], $19::uuid[], $20::uuid[], $21::text[], $22::integer[], $23::bigint[],
        $25::uuid[]) WITH ORDINALITY AS line (id, order_id, product_id, name, quantity, unit_price_minor, variant_id,
        position)
        ON line.order_id = placed.id
    -- A variant that was not reserved may have been deleted since it was read.
    WHERE line.variant_id IS NULL OR EXISTS (SELECT FROM reserved)
), timers AS (
    INSERT INTO order_timers (order_id, kind, due_at) SELECT placed.id, 'payment_window', $7 FROM placed
)
""",
    """
(SELECT holds FROM complete) AS placed,
       (SELECT count(*) FROM orders AS unpaid
           WHERE unpaid.buyer_id = $3 AND unpaid.status = 'Processing') AS unpaid_orders,
       ARRAY (SELECT product_id FROM reserved ORDER BY product_id) AS product_ids,
       ARRAY (SELECT stock_left FROM reserved ORDER BY product_id) AS stocks_left,
       ARRAY (SELECT coalesce(pieces, 0)::integer FROM reserved LEFT JOIN held USING (product_id)
           ORDER BY product_id) AS pieces_held
""",
    "(SELECT holds FROM complete)",
)
# The rows of a purchase that was not placed as a whole are undone, and the rest of the transaction is not.
_SAVEPOINT: Final = "SAVEPOINT before_purchase"
_UNDO: Final = "ROLLBACK TO SAVEPOINT before_purchase"

_ORDER_BY_KEY: Final = "SELECT id, fingerprint FROM orders WHERE buyer_id = $1 AND idempotency_key = $2"
_PURCHASE_BY_KEY: Final = "SELECT id, fingerprint FROM purchases WHERE buyer_id = $1 AND idempotency_key = $2"


class IdempotencyRecord(NamedTuple):
    """The order or the purchase that is bound to an Idempotency-Key of the caller."""

    id: UUID
    fingerprint: bytes


class CheckoutStop(NamedTuple):
    """Staff have stopped checkout: the sentence for buyers, and when the stop ends by itself."""

    message: str
    until: datetime


@dataclass(frozen=True, slots=True)
class CheckoutFacts:
    """The offers, the destination of each vendor, what is already bound to the key, and the buyer's name for the
    response.
    """

    offers: dict[UUID, Offer]
    destinations: dict[UUID, Destination]
    earlier: IdempotencyRecord | None
    buyer_name: str | None
    stop: CheckoutStop | None


async def read_for_checkout(
    uow: UnitOfWork,
    items: Sequence[RequestedItem],
    requested: Destinations,
    *,
    of_purchase: bool,
    buyer_id: UUID,
    key: UUID,
    now: datetime,
) -> CheckoutFacts:
    """Read without locks; `save_new_orders` rejects changes that happen in between."""
    hub_id = None if requested.hub is None else requested.hub.id
    product_ids, variant_ids = [item.product_id for item in items], [item.variant_id for item in items]
    values = (product_ids, hub_id, requested.campus_id, buyer_id, key, now, variant_ids)
    own_hubs = requested.hub_of_vendor
    rows = (
        await uow.fetch(_READ_FOR_PURCHASE, *values, list(own_hubs), [hub.id for hub in own_hubs.values()])
        if of_purchase
        else await uow.fetch(_READ_FOR_ORDER, *values)
    )
    first = rows[0]
    listed = [row for row in rows if row["product_id"] is not None]
    variants: dict[UUID, dict[UUID, OfferedVariant]] = {row["product_id"]: {} for row in listed}
    for row in listed:
        if row["variant_id"] is not None:
            variants[row["product_id"]][row["variant_id"]] = OfferedVariant(
                row["option_values"], row["variant_price_minor"], row["variant_stock"], _sale(row)
            )
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
                row["vendor_name"],
                row["vendor_absent_until"],
                row["has_variants"],
                variants[row["product_id"]],
            )
            for row in listed
        },
        destinations={row["vendor_id"]: _destination(row, requested) for row in listed},
        earlier=IdempotencyRecord(first["earlier_id"], first["earlier_fingerprint"]) if first["earlier_id"] else None,
        buyer_name=first["buyer_name"],
        stop=CheckoutStop(first["stop_message"], first["stopped_until"]) if first["stopped_until"] else None,
    )


def _destination(row: asyncpg.Record, requested: Destinations) -> Destination:
    hub = None if row["hub_campus_id"] is None else Hub(row["hub_campus_id"], row["delivery_fee_minor"])
    requested_hub = requested.hub_of_vendor.get(row["vendor_id"], requested.hub)
    return Destination(requested.campus_id, row["campus_known"], requested_hub, hub)


def _sale(row: asyncpg.Record) -> RunningSale | None:
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
    """The result of an attempt to place orders; `unpaid_orders` are the buyer's others."""

    placed: bool
    unpaid_orders: int
    reserved: dict[UUID, ReservedStock]


async def save_new_orders(
    uow: UnitOfWork,
    orders: Sequence[NewOrder],
    purchase: NewPurchase | None,
    regular_prices_minor: Mapping[tuple[UUID, UUID | None], int],
    *,
    key: UUID,
    fingerprint: bytes,
    event: Event | None,
) -> Placed:
    """Claim the key, insert the purchase and its orders, or the only order, with items and timers, and reserve the
    stock at the regular prices (kobo, by product and variant): all, or nothing. The event of an only order is published
    with it.

    Raises ErasureInProgress.
    """
    first = orders[0]
    items = [(item, order.id) for order in orders for item in order.items]
    bound = (None, None) if purchase is None else (purchase.id, purchase.number)
    if purchase is not None:
        await uow.execute(_SAVEPOINT)
    with refuse_during_erasure():
        row = await uow.fetch_row_and_publish(
            _PLACE_ORDERS,
            *bound,
            first.buyer_id,
            key,
            fingerprint,
            first.created_at,
            first.payment_due_at,
            [order.id for order in orders],
            [order.number for order in orders],
            [order.vendor_id for order in orders],
            [order.campus_id for order in orders],
            [order.hub_id for order in orders],
            [order.total_minor for order in orders],
            [order.subtotal_minor for order in orders],
            [order.delivery_fee_minor for order in orders],
            [order.commission_minor for order in orders],
            [order.delivery_note for order in orders],
            [item.id for item, _ in items],
            [order_id for _, order_id in items],
            [item.product_id for item, _ in items],
            [item.name for item, _ in items],
            [item.quantity for item, _ in items],
            [item.unit_price_minor for item, _ in items],
            [regular_prices_minor[item.product_id, item.variant_id] for item, _ in items],
            [item.variant_id for item, _ in items],
            event=event,
        )
    placed, unpaid_orders = row["placed"], row["unpaid_orders"]
    reserved = (row["product_ids"], row["stocks_left"], row["pieces_held"])
    if purchase is not None and not placed:
        await undo_purchase(uow)
    stocks = {product_id: ReservedStock(*stock) for product_id, *stock in zip(*reserved, strict=True)}
    return Placed(placed, unpaid_orders, stocks)


async def undo_purchase(uow: UnitOfWork) -> None:
    """Undo the placed purchase and its locks, so that the transaction may read what is there without it."""
    await uow.execute(_UNDO)


async def find_by_key(uow: UnitOfWork, buyer_id: UUID, key: UUID, *, of_purchase: bool) -> IdempotencyRecord | None:
    """Return the order, or the purchase, that was placed under the key, if any."""
    row = await uow.fetch_row(_PURCHASE_BY_KEY if of_purchase else _ORDER_BY_KEY, buyer_id, key)
    return None if row is None else IdempotencyRecord(*row)
