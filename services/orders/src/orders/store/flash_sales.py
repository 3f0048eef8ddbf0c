"""Flash sales and the units that orders bought of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.flash_sales import FlashSale, SaleTerms
from orders.domain.quotes import QuotedLine

_LOCK_SALES_OF: Final = "SELECT pg_advisory_xact_lock(hashtextextended('flash sales:' || $1::text, 0))"
_FIND_PRODUCT: Final = """
SELECT product.id, product.vendor_id, product.campus_id,
    coalesce(variant.price_minor, product.price_minor) AS price_minor, coalesce(variant.stock, product.stock) AS stock,
    product.options <> '[]' AS has_variants, variant.id IS NOT NULL AS variant_is_sold
FROM products AS product
LEFT JOIN product_variants AS variant ON variant.id = $2 AND variant.product_id = product.id AND variant.active
WHERE product.id = $1 AND product.removed_at IS NULL AND product.hidden_at IS NULL
"""
# A prepared sale blocks no other sale: the vendor's approval checks for overlaps again.
_OTHERS: Final = """
SELECT starts_at, ends_at FROM flash_sales
WHERE product_id = $1 AND variant_id IS NOT DISTINCT FROM $2 AND ends_at > $3 AND approved_at IS NOT NULL LIMIT 100
"""
_RECORD: Final = """
INSERT INTO flash_sales (
    id, product_id, vendor_id, campus_id, price_minor, quantity, per_buyer_limit, starts_at, ends_at, created_by,
    created_at, approved_by, approved_at, variant_id
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
"""
_LOCK: Final = """
SELECT vendor_id, campus_id, product_id, price_minor, quantity, per_buyer_limit, starts_at, ends_at, variant_id,
    created_by, approved_at IS NOT NULL AS approved
FROM flash_sales WHERE id = $1 FOR UPDATE
"""
_SAVE_CONSENT: Final = "UPDATE flash_sales SET approved_by = $2, approved_at = $3 WHERE id = $1 AND approved_at IS NULL"
_FIND: Final = "SELECT vendor_id, campus_id FROM flash_sales WHERE id = $1"
# A sale that has not started ends at its start.
_CLOSE: Final = "UPDATE flash_sales SET ends_at = greatest(starts_at, $2) WHERE id = $1 AND ends_at > $2"
_CLAIM_UNITS: Final = "SELECT take_sale_units($1, $2, $3, $4)"


@dataclass(frozen=True, slots=True)
class SaleProduct:
    """The product of a sale, at the price (kobo) and the stock of the variant, if the sale names one."""

    id: UUID
    vendor_id: UUID
    campus_id: UUID
    price_minor: int
    stock: int
    has_variants: bool
    variant_is_sold: bool


async def lock_sales_of(uow: UnitOfWork, product_id: UUID) -> None:
    """Serialize new sales of a product until the transaction ends."""
    await uow.execute(_LOCK_SALES_OF, str(product_id))


async def find_product(uow: UnitOfWork, product_id: UUID, variant_id: UUID | None) -> SaleProduct | None:
    row = await uow.fetch_row(_FIND_PRODUCT, product_id, variant_id)
    return SaleProduct(*row) if row else None


async def list_other_sales(
    uow: UnitOfWork, product_id: UUID, variant_id: UUID | None, now: datetime
) -> list[tuple[datetime, datetime]]:
    """Start and end of the approved sales of the product, or of its variant, that have not ended."""
    return [(starts_at, ends_at) for starts_at, ends_at in await uow.fetch(_OTHERS, product_id, variant_id, now)]


async def record_sale(
    uow: UnitOfWork,
    sale_id: UUID,
    terms: SaleTerms,
    product: SaleProduct,
    *,
    created_by: UUID,
    with_consent: bool,
    now: datetime,
) -> None:
    await uow.execute(
        _RECORD,
        sale_id,
        product.id,
        product.vendor_id,
        product.campus_id,
        terms.price_minor,
        terms.quantity,
        terms.per_buyer_limit,
        terms.starts_at,
        terms.ends_at,
        created_by,
        now,
        created_by if with_consent else None,
        now if with_consent else None,
        terms.variant_id,
    )


async def lock_sale(uow: UnitOfWork, sale_id: UUID) -> FlashSale | None:
    """Return the sale, locked until the transaction ends. Lock `lock_sales_of` its product first."""
    row = await uow.fetch_row(_LOCK, sale_id)
    if row is None:
        return None
    vendor_id, campus_id, *terms, created_by, approved = row
    return FlashSale(sale_id, vendor_id, campus_id, SaleTerms(*terms), created_by, approved)


async def save_consent(uow: UnitOfWork, sale_id: UUID, by: UUID, now: datetime) -> None:
    await uow.execute(_SAVE_CONSENT, sale_id, by, now)


async def find_sale_parties(uow: UnitOfWork, sale_id: UUID) -> tuple[UUID, UUID] | None:
    """Vendor and campus of a sale."""
    row = await uow.fetch_row(_FIND, sale_id)
    return tuple(row) if row else None


async def close_sale(uow: UnitOfWork, sale_id: UUID, now: datetime) -> None:
    await uow.execute(_CLOSE, sale_id, now)


async def claim_sale_units(uow: UnitOfWork, order_id: UUID, reduced: Sequence[QuotedLine], now: datetime) -> bool:
    """Claim units of running sales for the caller's new order. On False the caller must roll the order back."""
    sale_ids, quantities = [line.sale_id for line in reduced], [line.quantity for line in reduced]
    return bool(await uow.fetch_value(_CLAIM_UNITS, order_id, sale_ids, quantities, now))
