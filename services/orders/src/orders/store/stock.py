"""Products and their stock.

**Units return to the stock when an order stops before dispatch**, unpaid or paid, in the transaction of the
transition, so no replay returns them twice. Units of a cancelled line never return: the vendor does not have them.
Dispatched units never return by a cancellation: the vendor decides about them. A late charge reserves all items
again, or is refunded. Units of a variant return to the variant, and to the product while the variant is active or the
product has no variants any more.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from orders.domain.projections import VendorProjection

_FREE_STOCK: Final = """
WITH line AS MATERIALIZED (
    SELECT product_id, variant_id, quantity FROM order_items AS item WHERE order_id = $1
      AND NOT EXISTS (SELECT FROM return_request_items AS cancelled WHERE cancelled.item_id = item.id)
), locked AS MATERIALIZED (
    SELECT product.id, product.options = '[]' AS without_variants FROM products AS product
    WHERE product.id IN (SELECT product_id FROM line) ORDER BY product.id FOR NO KEY UPDATE
), locked_variants AS MATERIALIZED (
    SELECT variant.id, variant.active, line.quantity
    FROM locked JOIN line ON line.product_id = locked.id
    JOIN product_variants AS variant ON variant.id = line.variant_id
    ORDER BY variant.id FOR NO KEY UPDATE OF variant
), freed_variants AS (
    UPDATE product_variants AS variant SET stock = variant.stock + locked_variants.quantity
    FROM locked_variants WHERE variant.id = locked_variants.id
), freed AS (
    SELECT locked.id,
           coalesce(sum(line.quantity) FILTER (
               WHERE locked.without_variants OR locked_variants.active
           ), 0)::integer AS quantity
    FROM locked JOIN line ON line.product_id = locked.id
    LEFT JOIN locked_variants ON locked_variants.id = line.variant_id
    GROUP BY locked.id
), returned AS (
    UPDATE flash_sale_units SET returned = true WHERE order_id = $1 AND NOT returned RETURNING sale_id, quantity
), released_units AS (
    UPDATE flash_sales AS sale SET sold = sale.sold - returned.quantity FROM returned WHERE sale.id = returned.sale_id
)
UPDATE products AS product SET stock = product.stock + freed.quantity, revision = product.revision + 1
FROM freed WHERE product.id = freed.id
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          freed.quantity > 0 AND product.stock = freed.quantity AS availability_changed,
          (product.removed_at IS NOT NULL OR product.draft OR product.hidden_at IS NOT NULL) AS removed
"""
# Locked before they are read: otherwise the statement would see the stock before a concurrent sale. Variants change
# only under the lock of their product.
_LOCK_PRODUCTS: Final = """
SELECT FROM products WHERE id IN (SELECT product_id FROM order_items WHERE order_id = $1) ORDER BY id FOR NO KEY UPDATE
"""
_RESERVE_STOCK_AGAIN: Final = """
WITH line AS MATERIALIZED (
    SELECT item.product_id, item.variant_id, item.quantity
    FROM order_items AS item JOIN products AS product ON product.id = item.product_id
    LEFT JOIN product_variants AS variant ON variant.id = item.variant_id
    WHERE item.order_id = $1 AND product.removed_at IS NULL AND product.hidden_at IS NULL AND CASE
          WHEN item.variant_id IS NULL THEN product.options = '[]' AND product.stock >= item.quantity
          ELSE variant.active AND variant.stock >= item.quantity END
      AND NOT EXISTS (
          SELECT FROM flash_sale_units AS units JOIN flash_sales AS sale ON sale.id = units.sale_id
          WHERE units.order_id = $1 AND units.product_id = product.id
            AND sale.variant_id IS NOT DISTINCT FROM item.variant_id AND (
              sale.sold + units.quantity > sale.quantity OR units.quantity > sale.per_buyer_limit - (
                  SELECT coalesce(sum(others.quantity), 0) FROM flash_sale_units AS others
                  WHERE others.sale_id = sale.id AND others.buyer_id = units.buyer_id AND NOT others.returned
              )
          )
      )
), complete AS MATERIALIZED (
    SELECT (SELECT count(*) FROM line) = (SELECT count(*) FROM order_items WHERE order_id = $1) AS holds
), reclaimed AS (
    UPDATE flash_sale_units SET returned = false FROM complete
    WHERE order_id = $1 AND returned AND complete.holds
    RETURNING sale_id, quantity
), claimed_units AS (
    UPDATE flash_sales AS sale SET sold = sale.sold + reclaimed.quantity FROM reclaimed
    WHERE sale.id = reclaimed.sale_id
), reserved AS (
    UPDATE product_variants AS variant SET stock = variant.stock - line.quantity
    FROM line, complete WHERE variant.id = line.variant_id AND complete.holds
)
UPDATE products AS product SET stock = product.stock - taken.quantity, revision = product.revision + 1
FROM (SELECT product_id, sum(quantity)::integer AS quantity FROM line GROUP BY product_id) AS taken, complete
WHERE product.id = taken.product_id AND complete.holds
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          product.stock = 0 AS availability_changed, product.draft AS removed
"""
_RENAME_VENDOR_ON_PRODUCTS: Final = """
WITH changed AS MATERIALIZED (
    SELECT id FROM products WHERE vendor_id = $1 AND (vendor_name, campus_id) IS DISTINCT FROM ($2, $3)
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE products SET vendor_name = $2, campus_id = $3, updated_at = $4 FROM changed WHERE products.id = changed.id
"""
_SAVE_PRODUCT_IF_NEW: Final = """
INSERT INTO products (
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
    rating_sum, rating_count, revision, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'NGN', $9, '[]', 0, 0, 1, $10, $10)
ON CONFLICT (id) DO NOTHING
"""


class StockLevel(NamedTuple):
    """A product after a change of its stock; `availability_changed` when it sold out or became available."""

    product_id: UUID
    vendor_id: UUID
    campus_id: UUID
    name: str
    price_minor: int
    stock: int
    availability_changed: bool
    removed: bool


async def free_stock(uow: UnitOfWork, order_id: UUID) -> list[StockLevel]:
    """Return the order's units to the stock and to their flash sales."""
    return _stock_levels(await uow.fetch(_FREE_STOCK, order_id))


async def reserve_stock_again(uow: UnitOfWork, order_id: UUID) -> list[StockLevel]:
    """Reserve the order's units a second time: all of them, or none (an empty list).

    None when stock is missing, or when other orders of the buyer have used up the limit of a flash sale since.
    """
    await uow.execute(_LOCK_PRODUCTS, order_id)
    return _stock_levels(await uow.fetch(_RESERVE_STOCK_AGAIN, order_id))


def _stock_levels(rows: Sequence[asyncpg.Record]) -> list[StockLevel]:
    return sorted(StockLevel(*row) for row in rows)


async def rename_vendor_on_products(uow: UnitOfWork, vendor: VendorProjection, now: datetime) -> None:
    """Copy the vendor's name and campus to its products."""
    await uow.execute(_RENAME_VENDOR_ON_PRODUCTS, vendor.id, vendor.business_name, vendor.campus_id, now)


async def save_product_if_new(
    uow: UnitOfWork, product: StockLevel, vendor_name: str, description: str, category: str, created_at: datetime
) -> bool:
    """Insert a listed product; False when its id exists."""
    values = (
        product.product_id,
        product.vendor_id,
        vendor_name,
        product.campus_id,
        product.name,
        description,
        category,
    )
    rows = await uow.execute(_SAVE_PRODUCT_IF_NEW, *values, product.price_minor, product.stock, created_at)
    return rows == 1
