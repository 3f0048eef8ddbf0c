"""The flash sale of a product, for the public list and for the vendor's own list."""

from datetime import UTC, datetime
from typing import Final

from common.primitives.clock import iso
from orders.queries.pages import Row

# `has_sales` skips the subquery for products without a sale. The service's clock, not the database's, finds the running
# sale.
_FLASH_SALES: Final = """
    CASE WHEN has_sales THEN ARRAY (
        SELECT jsonb_build_object(
            'id', sale.id, 'priceMinor', sale.price_minor, 'quantity', sale.quantity,
            'remaining', sale.quantity - sale.sold, 'perBuyerLimit', sale.per_buyer_limit,
            'startsAt', extract(epoch FROM sale.starts_at), 'endsAt', extract(epoch FROM sale.ends_at)
        ) FROM flash_sales AS sale WHERE sale.product_id = {table}.id AND sale.approved_at IS NOT NULL ORDER BY sale.ends_at DESC LIMIT 20
    ) END
"""


def flash_sales_of(table: str) -> str:
    """Return the SQL expression for the approved sales of a row's product, or null; `running_sale` picks one of them."""
    return _FLASH_SALES.replace("{table}", table)


def running_sale(sales: list[Row], now: datetime) -> Row | None:
    """Return the sale that runs at `now`, or None."""
    instant = now.timestamp()
    for sale in sales:
        if sale["startsAt"] <= instant < sale["endsAt"]:
            times = {name: iso(datetime.fromtimestamp(sale[name], UTC)) for name in ("startsAt", "endsAt")}
            return {**sale, **times}
    return None
