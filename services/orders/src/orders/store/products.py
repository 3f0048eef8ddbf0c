"""A merchant's writes to products, under the merchant's row policies."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.products import Product
from orders.store.erasure import refuse_during_erasure

_COLUMNS: Final = """
    id, vendor_id, campus_id, name, description, category, price_minor, stock, images, draft,
    removed_at IS NOT NULL AS removed, revision
"""
# The row policy for updates limits locks to the vendor's own rows.
_LOCK_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2 FOR NO KEY UPDATE"
_FIND_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2"
_FIND_VENDOR_OF: Final = "SELECT vendor_id FROM products WHERE id = $1"
# Vendor name and campus are those of the projection of identity's vendors.
_SAVE_NEW_PRODUCT: Final = f"""
INSERT INTO products (
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, draft, created_at, updated_at
)
SELECT $1, vendor.id, vendor.business_name, vendor.campus_id, $3, $4, $5, $6, $7, $8, $9, $9
FROM vendors AS vendor WHERE vendor.id = $2
RETURNING {_COLUMNS}
"""
_SAVE_PRODUCT: Final = """
UPDATE products SET name = $2, description = $3, category = $4, price_minor = $5, stock = $6, images = $7, draft = $8,
    removed_at = CASE WHEN $9 THEN coalesce(removed_at, $11) END, revision = $10, updated_at = $11
WHERE id = $1
"""
# Sorted, so that two merchants who insert the same new words do not deadlock.
_SAVE_SEARCH_WORDS: Final = (
    "INSERT INTO search_words (word) SELECT word FROM words_in($1) AS word ORDER BY word ON CONFLICT DO NOTHING"
)


async def lock_own_product(uow: UnitOfWork, product_id: UUID, vendor_id: UUID) -> Product | None:
    """Return the vendor's product, removed or not, locked until the transaction ends."""
    return _product(await uow.fetch_row(_LOCK_OWN_PRODUCT, product_id, vendor_id))


async def find_own_product(uow: UnitOfWork, product_id: UUID, vendor_id: UUID) -> Product | None:
    """Return the vendor's product, removed or not, without a lock."""
    return _product(await uow.fetch_row(_FIND_OWN_PRODUCT, product_id, vendor_id))


async def find_vendor_of(uow: UnitOfWork, product_id: UUID) -> UUID | None:
    """Return the vendor of a product; None when the product is absent or invisible to the caller."""
    vendor_id: UUID | None = await uow.fetch_value(_FIND_VENDOR_OF, product_id)
    return vendor_id


async def save_new_product(uow: UnitOfWork, product: Product, now: datetime) -> Product | None:
    """Insert a product and return it with its vendor's campus; None when the vendor is unknown."""
    with refuse_during_erasure():
        row = await uow.fetch_row(
            _SAVE_NEW_PRODUCT,
            product.id,
            product.vendor_id,
            product.name,
            product.description,
            product.category,
            product.price_minor,
            product.stock,
            product.draft,
            now,
        )
    return _product(row)


async def save_product(uow: UnitOfWork, product: Product, now: datetime) -> None:
    """Save all fields of a locked product that a merchant may change."""
    await uow.execute(
        _SAVE_PRODUCT,
        product.id,
        product.name,
        product.description,
        product.category,
        product.price_minor,
        product.stock,
        product.images,
        product.draft,
        product.removed,
        product.revision,
        now,
    )


async def save_search_words(uow: UnitOfWork, *texts: str) -> None:
    """Save words that correct mistyped searches. They outlive their product: another product may use them again."""
    await uow.execute(_SAVE_SEARCH_WORDS, " ".join(texts))


def _product(row: Any) -> Product | None:
    if row is None:
        return None
    return Product(**{**row, "images": tuple(row["images"])})
