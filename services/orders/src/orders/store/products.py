"""What a merchant writes in the catalog. All of it under the merchant's own row policies."""

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
# The policy of changes lets only the vendor's own rows be locked.
_LOCK_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2 FOR NO KEY UPDATE"
_FIND_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2"
_FIND_VENDOR_OF: Final = "SELECT vendor_id FROM products WHERE id = $1"
# Name and campus are the vendor's as identity told them.
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
# In their order, so that two merchants who bring the same new words do not deadlock.
_SAVE_SEARCH_WORDS: Final = (
    "INSERT INTO search_words (word) SELECT word FROM words_in($1) AS word ORDER BY word ON CONFLICT DO NOTHING"
)


async def lock_own_product(uow: UnitOfWork, product_id: UUID, vendor_id: UUID) -> Product | None:
    """The vendor's product, held until the transaction ends; removed ones too."""
    return _product(await uow.fetch_row(_LOCK_OWN_PRODUCT, product_id, vendor_id))


async def find_own_product(uow: UnitOfWork, product_id: UUID, vendor_id: UUID) -> Product | None:
    """The same without a lock."""
    return _product(await uow.fetch_row(_FIND_OWN_PRODUCT, product_id, vendor_id))


async def find_vendor_of(uow: UnitOfWork, product_id: UUID) -> UUID | None:
    """Whose product it is, when the caller sees it."""
    vendor_id: UUID | None = await uow.fetch_value(_FIND_VENDOR_OF, product_id)
    return vendor_id


async def save_new_product(uow: UnitOfWork, product: Product, now: datetime) -> Product | None:
    """The product as it was put down, on its vendor's campus; None when the vendor is not known."""
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
    """Everything that a merchant may change of a product that is held."""
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
    """Words by which a mistyped search finds its way. They stay when their product goes: another may bring them again."""
    await uow.execute(_SAVE_SEARCH_WORDS, " ".join(texts))


def _product(row: Any) -> Product | None:
    if row is None:
        return None
    return Product(**{**row, "images": tuple(row["images"])})
