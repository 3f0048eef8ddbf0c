"""Shared parts of the public list and the vendor's own list of products: columns, images, the running flash sale."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from common.primitives.clock import iso
from common.web.response_models import Row
from orders.domain.variants import VARIANTS_MAX
from orders.responses.products import ProductVariant, RunningFlashSale, VendorAbsence

PRODUCT_COLUMNS: Final = """
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock,
    stock > 0 AS in_stock, images, round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating,
    rating_count, revision, created_at, options, condition
"""
# `has_sales` skips the subquery for products without a sale. The service's clock, not the database's, finds the running
# sale.
_FLASH_SALES: Final = """
    CASE WHEN has_sales THEN ARRAY (
        SELECT jsonb_build_object(
            'id', sale.id, 'price_minor', sale.price_minor, 'quantity', sale.quantity,
            'remaining', sale.quantity - sale.sold, 'per_buyer_limit', sale.per_buyer_limit,
            'variant_id', sale.variant_id, 'starts_at', extract(epoch FROM sale.starts_at), 'ends_at',
            extract(epoch FROM sale.ends_at)
        ) FROM flash_sales AS sale
        WHERE sale.product_id = {table}.id AND sale.approved_at IS NOT NULL
            AND (sale.variant_id IS NULL) = (options = '[]')
        ORDER BY sale.ends_at DESC LIMIT 20
    ) END
"""


# The index of absent vendors is nearly always empty. The service's clock ends an absence.
_VENDOR_ABSENCE: Final = """
    (
        SELECT jsonb_build_object('until', extract(epoch FROM vendor.absent_until), 'message', vendor.absence_message)
        FROM vendors AS vendor WHERE vendor.id = {table}.vendor_id AND vendor.absent_until IS NOT NULL
    )
"""


def vendor_absence_of(table: str) -> str:
    """Return the SQL expression for the absence of the vendor of a row's product, or null; `current_absence` checks its
    end.
    """
    return _VENDOR_ABSENCE.replace("{table}", table)


def current_absence(away: Row | None, now: datetime) -> VendorAbsence | None:
    """Return the absence unless it has ended at `now`."""
    if away is None or away["until"] <= now.timestamp():
        return None
    return VendorAbsence(until=iso(datetime.fromtimestamp(away["until"], UTC)), message=away["message"])


# No subquery for products without variants. Deactivated ones that orders refer to are last.
_VARIANTS: Final = f"""
    CASE WHEN options = '[]' THEN '[]' ELSE coalesce((
        SELECT jsonb_agg(jsonb_build_object(
            'id', variant.id, 'sku', variant.sku, 'values', variant.option_values, 'price_minor', variant.price_minor,
            'stock', variant.stock, 'image_id', variant.image_id, 'active', variant.active
        )) FROM (
            SELECT * FROM product_variants WHERE product_id = {{table}}.id ORDER BY position, id
            LIMIT {2 * VARIANTS_MAX}
        ) AS variant
    ), '[]') END
"""


def variants_of(table: str) -> str:
    """Return the SQL expression for the variants of a row's product, in display order; `product_variants` reads it."""
    return _VARIANTS.replace("{table}", table)


def product_variants(
    variants: Sequence[dict[str, Any]], sales: Sequence[Row] | None, now: datetime
) -> list[ProductVariant]:
    """Return the variants with their values by option, each with its flash sale at `now`."""
    running = {sale.variant_id: sale for sale in _running_sales(sales, now)}
    return [
        ProductVariant.from_row(each, values=dict(each["values"]), flash_sale=running.get(each["id"]))
        for each in variants
    ]


def flash_sales_of(table: str) -> str:
    """Return the SQL expression for the approved sales of a row's product, or null; `running_sale` picks one of
    them.
    """
    return _FLASH_SALES.replace("{table}", table)


def running_sale(sales: Sequence[Row] | None, now: datetime) -> RunningFlashSale | None:
    """Return the sale that runs at `now`, or None; for a product with variants, the cheapest of theirs."""
    running = _running_sales(sales, now)
    return min(running, key=lambda sale: sale.price_minor) if running else None


def _running_sales(sales: Sequence[Row] | None, now: datetime) -> list[RunningFlashSale]:
    instant = now.timestamp()
    return [
        RunningFlashSale.from_row(
            sale, **{name: iso(datetime.fromtimestamp(sale[name], UTC)) for name in ("starts_at", "ends_at")}
        )
        for sale in sales or ()
        if sale["starts_at"] <= instant < sale["ends_at"]
    ]


def image_urls(image_ids: Sequence[UUID], media_url: str) -> list[str]:
    """Return the paths of the images, in order."""
    return [f"{media_url}/{image_id}" for image_id in image_ids]
