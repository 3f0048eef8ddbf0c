"""Shared parts of the public list and the vendor's own list of products: columns, images, the running flash sale."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from common.primitives.clock import iso
from common.web.response_models import Row
from orders.responses.products import RunningFlashSale

PRODUCT_COLUMNS: Final = """
    id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, stock > 0 AS in_stock,
    images, round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count, revision, created_at
"""
# `has_sales` skips the subquery for products without a sale. The service's clock, not the database's, finds the running
# sale.
_FLASH_SALES: Final = """
    CASE WHEN has_sales THEN ARRAY (
        SELECT jsonb_build_object(
            'id', sale.id, 'price_minor', sale.price_minor, 'quantity', sale.quantity,
            'remaining', sale.quantity - sale.sold, 'per_buyer_limit', sale.per_buyer_limit,
            'starts_at', extract(epoch FROM sale.starts_at), 'ends_at', extract(epoch FROM sale.ends_at)
        ) FROM flash_sales AS sale WHERE sale.product_id = {table}.id AND sale.approved_at IS NOT NULL ORDER BY sale.ends_at DESC LIMIT 20
    ) END
"""


def flash_sales_of(table: str) -> str:
    """Return the SQL expression for the approved sales of a row's product, or null; `running_sale` picks one of them."""
    return _FLASH_SALES.replace("{table}", table)


def running_sale(sales: Sequence[Row] | None, now: datetime) -> RunningFlashSale | None:
    """Return the sale that runs at `now`, or None."""
    if not sales:
        return None
    instant = now.timestamp()
    for sale in sales:
        if sale["starts_at"] <= instant < sale["ends_at"]:
            times = {name: iso(datetime.fromtimestamp(sale[name], UTC)) for name in ("starts_at", "ends_at")}
            return RunningFlashSale.from_row(sale, **times)
    return None


def image_urls(image_ids: Sequence[UUID], media_url: str) -> list[str]:
    """Return the paths of the images, in order."""
    return [f"{media_url}/{image_id}" for image_id in image_ids]
