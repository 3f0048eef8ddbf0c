"""Read the end of a run in the databases and at the gateway, append it to the history, and check it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from campus_tools.launcher import System
from lab.histories.checking import check_file
from lab.histories.recording import History, RecordingClient
from lab.report import Report
from lab.systems import rows_of, transfers_of
from operations.journey import Marketplace

ANOMALIES: Final = "anomalies of the history"
"""The row of a report with them."""
Rows = Callable[[str, str], Awaitable[Sequence[Any]]]
"""Returns the rows of a statement in the database of a service."""

# An order and its timeline in one statement: read apart, an event between the two would look like a lost update.
# The key of a purchase is that of all its orders.
_ORDERS: Final = """
SELECT id, status, CASE WHEN purchase_id IS NULL THEN idempotency_key END AS key,
       extract(epoch FROM created_at)::float8 AS at,
       ARRAY(SELECT ARRAY[event, status] FROM order_history WHERE order_id = orders.id ORDER BY order_history.id)
           AS timeline
FROM orders ORDER BY created_at
"""
_PURCHASES: Final = """
SELECT id, idempotency_key AS key, extract(epoch FROM created_at)::float8 AS at FROM purchases ORDER BY created_at
"""
_LINES: Final = "SELECT id, vendor_id, order_id, kind FROM wallet_lines ORDER BY position"
_PAYOUTS: Final = "SELECT id, status, idempotency_key AS key, amount FROM payout_requests"


async def record_verdict(report: Report, system: System, market: Marketplace) -> None:
    """Record the anomalies of a recorded run.

    Raises:
        TypeError: the client of the marketplace records no history.
    """
    if not isinstance(market.http, RecordingClient):
        raise TypeError("the client records no history")
    history = market.http.history

    async def transfers() -> list[int]:
        return [int(line["amount"]) for line in await transfers_of(market) if line["status"] == "success"]

    await record_final_reads(history, lambda service, statement: rows_of(system, service, statement), transfers)
    report.rows["history"] = str(history.path)
    report.require_none(ANOMALIES, check_file(history.path))


async def record_final_reads(
    history: History, rows: Rows, transfers: Callable[[], Awaitable[list[int]]] | None
) -> None:
    """Append every order, purchase, payout and wallet.

    A running system may move on meanwhile: an effect is read after its cause, such as the credit of a paid order or
    the transfer of a processed payout. `transfers` returns the kobo of each successful transfer; None: they are not
    compared.
    """
    orders = await rows("orders", _ORDERS)
    purchases = await rows("orders", _PURCHASES)
    wallets: dict[Any, list[Any]] = {}
    released: dict[Any, int] = {}
    for row in await rows("payouts", _LINES):
        wallets.setdefault(row["vendor_id"], []).append(row["id"])
        if row["kind"] == "release":
            released[row["order_id"]] = released.get(row["order_id"], 0) + 1
    payouts = await rows("payouts", _PAYOUTS)
    amounts = None if transfers is None else await transfers()
    for row in orders:
        timeline = [("placed", "Processing"), *row["timeline"]]
        history.write("final", what="order", **{**row, "timeline": timeline}, credits=released.get(row["id"], 0))
    for row in purchases:
        history.write("final", what="purchase", **row)
    for vendor_id, lines in wallets.items():
        history.write("final", what="wallet", id=vendor_id, lines=lines)
    for row in payouts:
        fields = {name: row[name] for name in ("id", "status", "key")}
        history.write("final", what="payout", **fields, amountMinor=row["amount"])
    # Written always: without a final line, as of databases that lost their only order, a history counts as cut off.
    history.write("final", what="transfers", amounts=amounts)
