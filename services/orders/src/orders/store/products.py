"""A merchant's writes to products, under the merchant's row policies."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import parse_uuid
from orders.domain.products import Product
from orders.domain.variants import Option, Variant
from orders.store.erasure import refuse_during_erasure

_COLUMNS: Final = """
    id, vendor_id, campus_id, name, description, category, price_minor, stock, images, draft, options, condition,
    removed_at IS NOT NULL AS removed, hidden_at IS NOT NULL AS hidden, revision
"""
# The row policy for updates limits locks to the vendor's own rows.
_LOCK_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2 FOR NO KEY UPDATE"
_FIND_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2"
_FIND_VENDOR_OF: Final = "SELECT vendor_id FROM products WHERE id = $1"
# Vendor name and campus are those of the projection of identity's vendors.
_SAVE_NEW_PRODUCT: Final = f"""
INSERT INTO products (
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, draft, options, condition,
    created_at, updated_at
)
SELECT $1, vendor.id, vendor.business_name, vendor.campus_id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11
FROM vendors AS vendor WHERE vendor.id = $2
RETURNING {_COLUMNS}
"""
_SAVE_PRODUCT: Final = """
UPDATE products SET name = $2, description = $3, category = $4, price_minor = $5, stock = $6, images = $7, draft = $8,
    removed_at = CASE WHEN $9 THEN coalesce(removed_at, $11) END, revision = $10, updated_at = $11, options = $12,
    condition = $13, variant_terms = NULL
WHERE id = $1
"""
# After the product: the words of its options weigh as much as its category.
_SAVE_VARIANT_TERMS: Final = """
UPDATE products SET variant_terms = name_terms || setweight(to_tsvector('every_word', joined_text($2)), 'B')
WHERE id = $1
"""
_LIST_VARIANTS: Final = """
SELECT option_values, price_minor, stock, sku, image_id, active, id, position FROM product_variants
WHERE product_id = $1
ORDER BY position, id
"""
# No position and no value is taken while the new ones are written.
_DEACTIVATE_VARIANTS: Final = "UPDATE product_variants SET active = false, position = NULL WHERE product_id = $1"
# A variant that an order or a flash sale refers to stays.
_DELETE_VARIANTS: Final = """
DELETE FROM product_variants AS variant WHERE product_id = $1 AND id <> ALL ($2)
    AND NOT EXISTS (SELECT FROM order_items AS item WHERE item.variant_id = variant.id)
    AND NOT EXISTS (SELECT FROM flash_sales AS sale WHERE sale.variant_id = variant.id)
"""
_SAVE_VARIANTS: Final = """
INSERT INTO product_variants (id, product_id, position, sku, option_values, price_minor, stock, image_id, active)
SELECT id, $1, place - 1, sku, option_values, price_minor, stock, image_id, active
FROM ROWS FROM (jsonb_to_recordset($2) AS (
    id uuid, sku text, option_values jsonb, price_minor bigint, stock integer, image_id uuid, active boolean
)) WITH ORDINALITY AS variant (id, sku, option_values, price_minor, stock, image_id, active, place)
ON CONFLICT (id) DO UPDATE SET position = excluded.position, sku = excluded.sku, option_values = excluded.option_values,
    price_minor = excluded.price_minor, stock = excluded.stock, image_id = excluded.image_id, active = excluded.active
"""
_DETACH_VARIANT_IMAGE: Final = "UPDATE product_variants SET image_id = NULL WHERE product_id = $1 AND image_id = $2"
# A SKU of a product without variants, or of a variant that the vendor still lists; their ids where they have none.
_FIND_BY_SKUS: Final = """
SELECT coalesce(sku, id::text) AS sku, id AS product_id, NULL::uuid AS variant_id FROM products
WHERE vendor_id = $1 AND (sku = ANY ($2) OR (sku IS NULL AND id = ANY ($3))) AND removed_at IS NULL AND options = '[]'
UNION ALL
SELECT coalesce(variant.sku, variant.id::text), variant.product_id, variant.id FROM product_variants AS variant
JOIN products AS product ON product.id = variant.product_id
WHERE product.vendor_id = $1 AND (variant.sku = ANY ($2) OR (variant.sku IS NULL AND variant.id = ANY ($3)))
    AND variant.position IS NOT NULL AND product.removed_at IS NULL
"""
_LOCK_IMPORT: Final = "SELECT pg_advisory_xact_lock(hashtextextended('import:' || $1::uuid, 0))"
# In the order of checkouts.
_LOCK_OWN_PRODUCTS: Final = """
SELECT FROM products WHERE id = ANY ($1) AND vendor_id = $2 ORDER BY id FOR NO KEY UPDATE
"""
_SAVE_SKU: Final = "UPDATE products SET sku = $2 WHERE id = $1 AND sku IS DISTINCT FROM $2"
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
            product.options,
            product.condition,
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
        product.options,
        product.condition,
    )
    await _save_variant_terms(uow, product)


async def list_variants(uow: UnitOfWork, product_id: UUID) -> tuple[list[Variant], set[UUID]]:
    """Return the listed variants of a product in display order, and the ids of all of them."""
    rows = await uow.fetch(_LIST_VARIANTS, product_id)
    listed = [
        Variant(tuple((name, value) for name, value in option_values), *others)
        for option_values, *others, position in rows
        if position is not None
    ]
    return listed, {row["id"] for row in rows}


async def save_variants(uow: UnitOfWork, product: Product, variants: Sequence[Variant]) -> None:
    """Replace the variants of a locked product. Those of orders or flash sales are deactivated, never deleted."""
    await uow.execute(_DEACTIVATE_VARIANTS, product.id)
    await uow.execute(_DELETE_VARIANTS, product.id, [variant.id for variant in variants])
    await uow.execute(_SAVE_VARIANTS, product.id, variants)
    await _save_variant_terms(uow, product)


async def detach_variant_image(uow: UnitOfWork, product_id: UUID, image_id: UUID) -> None:
    """Leave the variants that show this image without one."""
    await uow.execute(_DETACH_VARIANT_IMAGE, product_id, image_id)


async def _save_variant_terms(uow: UnitOfWork, product: Product) -> None:
    if product.options:
        words = (value for option in product.options for value in option.values)
        await uow.execute(_SAVE_VARIANT_TERMS, product.id, " ".join(words))


class FoundSku(NamedTuple):
    """A product, or one of its variants, with a SKU of an import."""

    sku: str
    product_id: UUID
    variant_id: UUID | None


async def lock_by_skus(uow: UnitOfWork, vendor_id: UUID, skus: Sequence[str]) -> list[FoundSku]:
    """Return what the vendor sells under these SKUs, with its products locked; another import of the vendor waits."""
    await uow.execute(_LOCK_IMPORT, vendor_id)
    ids = [known for sku in skus if (known := parse_uuid(sku)) is not None]
    found = [FoundSku(*row) for row in await uow.fetch(_FIND_BY_SKUS, vendor_id, skus, ids)]
    await uow.execute(_LOCK_OWN_PRODUCTS, sorted({one.product_id for one in found}), vendor_id)
    return found


async def save_sku(uow: UnitOfWork, product_id: UUID, sku: str) -> None:
    """Save the SKU of a product without variants."""
    await uow.execute(_SAVE_SKU, product_id, sku)


async def save_search_words(uow: UnitOfWork, *texts: str) -> None:
    """Save words that correct mistyped searches. They outlive their product: another product may use them again."""
    await uow.execute(_SAVE_SEARCH_WORDS, " ".join(texts))


def _product(row: asyncpg.Record | None) -> Product | None:
    if row is None:
        return None
    options = tuple(Option(option["name"], tuple(option["values"])) for option in row["options"])
    return Product(**{**row, "images": tuple(row["images"]), "options": options})
