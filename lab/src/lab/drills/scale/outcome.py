"""Outcome of every order and payout: read in the databases and at the sandbox's payment gateway."""

from collections import Counter
from typing import Final
from uuid import UUID

from campus_tools.launcher.system import System
from lab.drills.scale.journeys import Journeys
from lab.report import Report
from lab.systems import rows_of, transfers_of
from operations.journey import Marketplace

_ORDERS: Final = """
SELECT id, status FROM orders WHERE buyer_id = (SELECT buyer_id FROM orders WHERE id = $1)
AND created_at >= (SELECT min(created_at) FROM orders WHERE id = ANY ($2))
"""
_CREDITS: Final = "SELECT order_id, count(*) AS times FROM wallet_lines WHERE kind = 'release' GROUP BY order_id"


async def record_outcome(report: Report, system: System, market: Marketplace, journeys: Journeys) -> None:
    """Record what clients saw and what is stored: every order and payout ends once.

    Lost: acknowledged and not stored, or completed for the client only. Doubled: an order, a credit or a transfer
    beyond its request.
    """
    orders, payouts = journeys.orders, journeys.payouts
    acknowledged = {UUID(order.order_id) for order in orders if order.order_id}
    rows = await rows_of(system, "orders", _ORDERS, next(iter(acknowledged), None), list(acknowledged))
    # Every order that the buyer placed since the first acknowledged one.
    stored = {row["id"]: row["status"] for row in rows}
    credited = Counter({row["order_id"]: row["times"] for row in await rows_of(system, "payouts", _CREDITS)})
    transfers = Counter(int(line["amount"]) for line in await transfers_of(market) if line["status"] == "success")
    completed = {UUID(order.order_id): order.end for order in orders if order.ended}
    lost = [f"order {order_id}" for order_id in acknowledged - stored.keys()]
    lost += [f"end of {order_id}" for order_id, end in completed.items() if stored.get(order_id) not in (None, end)]
    lost += [f"credit of {order_id}" for order_id, end in completed.items() if end == "paid" and not credited[order_id]]
    lost += [f"transfer of {amount}" for amount, payout in payouts.items() if payout.ended and not transfers[amount]]
    # An order whose checkout got no response may be stored.
    unacknowledged = sum(not order.order_id for order in orders)
    more = stored.keys() - acknowledged
    doubled = [f"order {order_id}" for order_id in more] if len(more) > unacknowledged else []
    credits_expected = {UUID(order.order_id): order.end == "paid" for order in orders if order.order_id}
    doubled += [
        f"credit of {order_id}" for order_id, is_paid in credits_expected.items() if credited[order_id] > is_paid
    ]
    doubled += [f"transfer of {amount}" for amount, times in transfers.items() if times > 1]
    finished = sum(order.ended is not None for order in orders)
    paid_out = sum(payout.ended is not None for payout in payouts.values())
    report.require("orders started, completed", f"{len(orders)}, {finished}", holds=0 < len(orders) == finished)
    report.require("payouts requested, processed", f"{len(payouts)}, {paid_out}", holds=len(payouts) == paid_out)
    failures = [journey.failure for journey in (*orders, *payouts.values()) if journey.failure]
    report.require_none("failed orders and payouts", failures)
    report.require_none("lost", lost)
    report.require_none("doubled", doubled)
