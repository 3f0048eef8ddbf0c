"""Products and their stock."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.projections import VendorProjection

_FREE_STOCK: Final = """
WITH locked AS MATERIALIZED (
    SELECT product.id, item.quantity FROM order_items AS item JOIN products AS product ON product.id = item.product_id
    WHERE item.order_id = $1 ORDER BY product.id FOR NO KEY UPDATE OF product
), returned AS (
    UPDATE flash_sale_units SET returned = true WHERE order_id = $1 AND NOT returned RETURNING sale_id, quantity
), given_back AS (
    UPDATE flash_sales AS sale SET sold = sale.sold - returned.quantity FROM returned WHERE sale.id = returned.sale_id
)
UPDATE products AS product SET stock = product.stock + locked.quantity, revision = product.revision + 1
FROM locked WHERE product.id = locked.id
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          product.stock = locked.quantity AS turned, (product.removed_at IS NOT NULL OR product.draft) AS removed
"""
# Held before they are read: what somebody at the same shelf has just sold would otherwise be judged by what it was before.
_LOCK_SHELVES: Final = """
SELECT FROM products WHERE id IN (SELECT product_id FROM order_items WHERE order_id = $1) ORDER BY id FOR NO KEY UPDATE
"""
_TAKE_STOCK_AGAIN: Final = """
WITH locked AS MATERIALIZED (
    SELECT product.id, item.quantity FROM order_items AS item JOIN products AS product ON product.id = item.product_id
    WHERE item.order_id = $1 AND product.stock >= item.quantity AND product.removed_at IS NULL
      AND NOT EXISTS (
          SELECT FROM flash_sale_units AS units JOIN flash_sales AS sale ON sale.id = units.sale_id
          WHERE units.order_id = $1 AND units.product_id = product.id AND (
              sale.sold + units.quantity > sale.quantity OR units.quantity > sale.per_buyer_limit - (
                  SELECT coalesce(sum(others.quantity), 0) FROM flash_sale_units AS others
                  WHERE others.sale_id = sale.id AND others.buyer_id = units.buyer_id AND NOT others.returned
              )
          )
      )
    ORDER BY product.id FOR NO KEY UPDATE OF product
), retaken AS (
    UPDATE flash_sale_units SET returned = false
    WHERE order_id = $1 AND returned
      AND (SELECT count(*) FROM locked) = (SELECT count(*) FROM order_items WHERE order_id = $1)
    RETURNING sale_id, quantity
), sold_again AS (
    UPDATE flash_sales AS sale SET sold = sale.sold + retaken.quantity FROM retaken WHERE sale.id = retaken.sale_id
)
UPDATE products AS product SET stock = product.stock - locked.quantity, revision = product.revision + 1
FROM locked
WHERE product.id = locked.id
  AND (SELECT count(*) FROM locked) = (SELECT count(*) FROM order_items WHERE order_id = $1)
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          product.stock = 0 AS turned, product.draft AS removed
"""
_RENAME_VENDOR_ON_PRODUCTS: Final = """
WITH changed AS MATERIALIZED (
    SELECT id FROM products WHERE vendor_id = $1 AND (vendor_name, campus_id) IS DISTINCT FROM ($2, $3)
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE products SET vendor_name = $2, campus_id = $3, updated_at = $4 FROM changed WHERE products.id = changed.id
"""
_SAVE_PRODUCT_ONCE: Final = """
INSERT INTO products (
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
    rating_sum, rating_count, revision, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'NGN', $9, '[]', 0, 0, 1, $10, $10)
ON CONFLICT (id) DO NOTHING
"""


class StockLevel(NamedTuple):
    """A product whose stock was just changed. `turned`: it sold out, or came back, with this change."""

    product_id: UUID
    vendor_id: UUID
    campus_id: UUID
    name: str
    price_minor: int
    stock: int
    turned: bool
    removed: bool


async def free_stock(uow: UnitOfWork, order_id: UUID) -> list[StockLevel]:
    """Puts the order's goods back on the shelf, and into the sales that they were taken from."""
    return _shelves(await uow.fetch(_FREE_STOCK, order_id))


async def reserve_stock_again(uow: UnitOfWork, order_id: UUID) -> list[StockLevel]:
    """Takes the order's goods from the shelf a second time: all of them, or none (an empty list) when one is gone, or when the buyer has
    had their share of its sale by other orders since."""
    await uow.execute(_LOCK_SHELVES, order_id)
    return _shelves(await uow.fetch(_TAKE_STOCK_AGAIN, order_id))


def _shelves(rows: Sequence[Any]) -> list[StockLevel]:
    return sorted(StockLevel(*row.values()) for row in rows)


async def rename_vendor_on_products(uow: UnitOfWork, vendor: VendorProjection, now: datetime) -> None:
    """Products show their vendor's name and stand on their vendor's campus."""
    await uow.execute(_RENAME_VENDOR_ON_PRODUCTS, vendor.id, vendor.business_name, vendor.campus_id, now)


async def save_product_if_new(
    uow: UnitOfWork, shelf: StockLevel, vendor_name: str, description: str, category: str, created_at: datetime
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
