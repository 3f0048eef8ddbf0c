"""What became of every order and payout: read in the databases and at the sandbox's payment gateway."""

from collections import Counter
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import asyncpg

from campus_tools.launcher.system import System
from lab.drills.scale.journeys import Journeys
from lab.systems import database_of, transfers_of
from operations.journey import Marketplace

_ORDERS: Final = """
SELECT id, status FROM orders WHERE buyer_id = (SELECT buyer_id FROM orders WHERE id = $1)
AND created_at >= (SELECT min(created_at) FROM orders WHERE id = ANY ($2))
"""
_CREDITS: Final = "SELECT order_id, count(*) AS times FROM wallet_lines WHERE kind = 'release' GROUP BY order_id"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What clients saw and what is stored.

    `lost`: acknowledged and not stored, or completed for the client only. `doubled`: an order, a credit or a transfer
    beyond its request.
    """

    started: int
    completed: int
    payouts: int
    paid_out: int
    failures: tuple[str, ...]
    lost: tuple[str, ...]
    doubled: tuple[str, ...]

    @property
    def holds(self) -> bool:
        whole = 0 < self.started == self.completed and self.payouts == self.paid_out
        return whole and not (self.failures or self.lost or self.doubled)


async def read_outcome(system: System, market: Marketplace, journeys: Journeys) -> Outcome:
    """Compare the responses that clients got with the stored rows."""
    acknowledged = {UUID(order.order_id) for order in journeys.orders if order.order_id}
    stored, credited = await _orders(system, acknowledged), await _credits(system)
    transfers = Counter(int(line["amount"]) for line in await transfers_of(market) if line["status"] == "success")
    completed = {UUID(order.order_id) for order in journeys.orders if order.ended}
    lost = [f"order {order_id}" for order_id in acknowledged - stored.keys()]
    lost += [f"end of {order_id}" for order_id in completed if stored.get(order_id) not in (None, "paid")]
    lost += [f"credit of {order_id}" for order_id in completed if not credited[order_id]]
    lost += [
        f"transfer of {amount}" for amount, payout in journeys.payouts.items() if payout.ended and not transfers[amount]
    ]
    # An order whose checkout got no response may be stored.
    unacknowledged = sum(not order.order_id for order in journeys.orders)
    more = stored.keys() - acknowledged
    doubled = [f"order {order_id}" for order_id in more] if len(more) > unacknowledged else []
    doubled += [f"credit of {order_id}" for order_id in acknowledged if credited[order_id] > 1]
    doubled += [f"transfer of {amount}" for amount, times in transfers.items() if times > 1]
    finished = [*journeys.orders, *journeys.payouts.values()]
    return Outcome(
        started=len(journeys.orders),
        completed=sum(order.ended is not None for order in journeys.orders),
        payouts=len(journeys.payouts),
        paid_out=sum(payout.ended is not None for payout in journeys.payouts.values()),
        failures=tuple(journey.failure for journey in finished if journey.failure),
        lost=tuple(lost),
        doubled=tuple(doubled),
    )


async def _orders(system: System, acknowledged: set[UUID]) -> dict[UUID, str]:
    """Return the state of every order that the buyer placed since the first acknowledged one."""
    connection = await asyncpg.connect(database_of(system, "orders"))
    try:
        rows = await connection.fetch(_ORDERS, next(iter(acknowledged), None), list(acknowledged))
        return {row["id"]: row["status"] for row in rows}
    finally:
        await connection.close()


async def _credits(system: System) -> Counter[UUID]:
    connection = await asyncpg.connect(database_of(system, "payouts"))
    try:
        return Counter({row["order_id"]: row["times"] for row in await connection.fetch(_CREDITS)})
    finally:
        await connection.close()
