"""The timeline of an order (contract section 6.9)."""

from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import Reads
from orders.domain.order_history import ROLE_BY_EVENT
from orders.responses.orders import OrderTimelineEntry

# One read. The order's own row is the first entry, so that an invisible order has no timeline.
_TIMELINE: Final = """
SELECT 'placed' AS event, 'Processing' AS status, created_at AS occurred_at, 0 AS id, 'buyer' AS actor_role,
    (SELECT buyer.short_name FROM user_contacts AS buyer WHERE buyer.user_id = orders.buyer_id) AS actor_name
FROM orders WHERE id = $1
UNION ALL
SELECT event, status, occurred_at, id, actor_role,
    (SELECT short_name FROM shop_actions AS action WHERE action.order_id = $1 AND action.id = order_history.id)
FROM order_history WHERE order_id = $1
ORDER BY id
"""


async def list_timeline(reads: Reads, order_id: UUID) -> list[OrderTimelineEntry] | None:
    """Return the transitions and PIN events of the order, oldest first; None for an absent or invisible order.

    An order has at most 4 PINs of 5 wrong attempts each, and no cycle of transitions: the list needs no pages.
    """
    return [_entry(row) for row in await reads.fetch(_TIMELINE, order_id)] or None


def _entry(row: asyncpg.Record) -> OrderTimelineEntry:
    return OrderTimelineEntry.from_row({**row, "actor_role": row["actor_role"] or ROLE_BY_EVENT.get(row["event"])})
