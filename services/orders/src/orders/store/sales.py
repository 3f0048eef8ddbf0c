"""The projection of sales."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from common.database.outbox import Writes
from common.database.unit_of_work import UnitOfWork
from orders.domain.sales import SaleLine

# The highest sequence wins, because events of payments arrive in any order. The category of the first event stays.
_LINES: Final = """
saved_lines AS (
INSERT INTO sale_lines AS known (
    item_id, order_id, product_id, vendor_id, campus_id, category, name, quantity, sold_at, sequence,
    gross_minor, locked_minor, refunded_minor, delivery_fee_minor, commission_minor, net_minor, variant_id
)
SELECT item.id, item.order_id, item.product_id, item.vendor_id, item.campus_id, coalesce(product.category, ''),
    CASE WHEN item.variant_id IS NULL THEN item.name ELSE coalesce(product.name, item.name) END, item.quantity,
    $1, $2, line.gross_minor, line.locked_minor, line.refunded_minor, line.delivery_fee_minor, line.commission_minor,
    line.net_minor, item.variant_id
FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
    AS line (item_id, gross_minor, locked_minor, refunded_minor, delivery_fee_minor, commission_minor, net_minor)
JOIN order_items AS item ON item.id = line.item_id
LEFT JOIN products AS product ON product.id = item.product_id
ORDER BY item.id
ON CONFLICT (item_id) DO UPDATE SET sold_at = excluded.sold_at, sequence = excluded.sequence,
    gross_minor = excluded.gross_minor, locked_minor = excluded.locked_minor, refunded_minor = excluded.refunded_minor,
    delivery_fee_minor = excluded.delivery_fee_minor, commission_minor = excluded.commission_minor,
    net_minor = excluded.net_minor
WHERE known.sequence < excluded.sequence
RETURNING known.order_id, known.refunded_minor
)
"""
_COUNT: Final = "(SELECT count(*) FROM saved_lines) AS saved_lines"
_SAVE_LINES: Final = Writes(
    f"""
{_LINES}, returned AS (
    SELECT order_id, sum(refunded_minor)::bigint AS minor FROM saved_lines GROUP BY order_id
), shown AS (
    UPDATE orders SET refunded_minor = returned.minor, revision = revision + 1
    FROM returned WHERE orders.id = returned.order_id AND orders.refunded_minor <> returned.minor
)
""",
    _COUNT,
)
# Beside a write of the order's row, which one statement changes once: the order shows the returned amount already.
_SAVE_SHOWN_LINES: Final = Writes(_LINES, _COUNT, final="true")


async def save_sale_lines(uow: UnitOfWork, lines: Sequence[SaleLine], sold_at: datetime, sequence: int) -> bool:
    """Return whether these lines of an order are newer than the saved ones. The order's `refundedMinor` becomes
    their sum.
    """
    row = await uow.write(_SAVE_LINES, sold_at, sequence, *map(list, zip(*lines, strict=True)))
    return bool(row["saved_lines"])


async def save_shown_sale_lines(uow: UnitOfWork, lines: Sequence[SaleLine], sold_at: datetime, sequence: int) -> None:
    """Save the lines with the next write of the message. Their sum of refunds is that of the locked order."""
    await uow.write_with_next(_SAVE_SHOWN_LINES, sold_at, sequence, *map(list, zip(*lines, strict=True)))
