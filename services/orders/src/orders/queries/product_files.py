"""A vendor's products as rows of a file (contract section 11.5)."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.product_files import ExportedProduct

# One statement for the whole file. A variant that only orders refer to has no position and is no choice of the vendor.
# The id stands for a SKU that is absent, so that an import finds the row again.
_PRODUCTS: Final = """
SELECT CASE WHEN product.options = '[]' THEN coalesce(product.sku, product.id::text)
        ELSE coalesce(variant.sku, variant.id::text) END AS sku,
    product.name, product.description, product.category, product.condition,
    coalesce(variant.price_minor, product.price_minor) AS price_minor, coalesce(variant.stock, product.stock) AS stock,
    NOT product.draft AND coalesce(variant.active, true) AS active,
    coalesce(variant.option_values, '[]') AS option_values
FROM products AS product
LEFT JOIN product_variants AS variant ON variant.product_id = product.id AND variant.position IS NOT NULL
WHERE product.vendor_id = $1 AND product.removed_at IS NULL
ORDER BY product.created_at, product.id, variant.position LIMIT $2
"""


async def list_exported_products(uow: UnitOfWork, vendor_id: UUID, rows_max: int) -> list[ExportedProduct]:
    """Return the vendor's products that are not removed, drafts included, the oldest first."""
    return [ExportedProduct(*row) for row in await uow.fetch(_PRODUCTS, vendor_id, rows_max)]
