"""What must hold between the services, and between us and the payment gateway."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import asyncpg
import httpx

from common.chain import verify_chain

Connections = Mapping[str, asyncpg.Connection]

# The money of an order in these states is all in escrow; in those, none of it is.
HELD: Final = ("paid_escrow", "dispatched", "disputed")
NOT_HELD: Final = ("Processing", "expired", "cancelled", "paid", "refund_pending", "refunded")

_ORDERS: Final = "SELECT id, status, total_amount, refunded_minor FROM orders"
_ESCROWS: Final = (
    "SELECT order_id, held_minor, refunded_minor, locked_vendor_minor, "
    "locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor AS locked_minor, charged_back_minor "
    "FROM escrows"
)
_SHARES: Final = "SELECT order_id, remaining_vendor_minor FROM order_shares"
_VENDOR_PAYABLE: Final = (
    "SELECT coalesce(sum(balance_minor), 0)::bigint FROM ledger_balances WHERE account LIKE 'vendor_payable:%'"
)
_ENTRIES_OF: Final = "SELECT coalesce(sum(amount_minor), 0)::bigint FROM ledger_entries WHERE account = $1"
_ON_THE_WAY: Final = """
SELECT coalesce(sum(t.amount), 0)::bigint FROM payout_transfers t JOIN payout_requests p ON p.id = t.payout_id
WHERE (p.status = 'pending' OR t.status IN ('submitting', 'unknown', 'pending', 'received', 'otp'))
  AND t.reference = ANY ($1::text[])
"""
# A refund to a bank account is a transfer too: 're-' and its attempt's digits.
_REFUNDS_ON_THE_WAY: Final = """
SELECT coalesce(sum(amount_minor), 0)::bigint FROM refunds
WHERE recipient_code IS NOT NULL AND status <> 'settled' AND 're-' || replace(attempt_id::text, '-', '') = ANY ($1::text[])
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A promise between services, and the function that tells what breaks it, one sentence for each offending row."""

    promise: str
    offending: Callable[[Connections, httpx.AsyncClient], Awaitable[list[str]]]


async def _orders_and_escrow(databases: Connections, _: httpx.AsyncClient) -> list[str]:
    escrows = {row["order_id"]: row for row in await databases["payments"].fetch(_ESCROWS)}
    offending = []
    for order in await databases["orders"].fetch(_ORDERS):
        escrow = escrows.pop(order["id"], None)
        locked = escrow["locked_minor"] if escrow else 0
        # What a bank took of a disputed order is gone from escrow, and staff have not resolved it yet.
        owed = order["total_amount"] - (escrow["charged_back_minor"] if escrow else 0)
        released_by_staff = escrow is not None and order["status"] in HELD and locked < owed
        if order["status"] in HELD and locked != owed and not (released_by_staff and locked > 0):
            offending.append(f"order {order['id']} is {order['status']}: {owed} kobo owed to escrow, {locked} held")
        if order["status"] in NOT_HELD and locked != 0:
            offending.append(f"order {order['id']} is {order['status']}: {locked} kobo still held")
    offending.extend(f"escrow of {order_id} has no order" for order_id in escrows)
    return offending


async def _refunds(databases: Connections, _: httpx.AsyncClient) -> list[str]:
    posted = {row["order_id"]: row["refunded_minor"] for row in await databases["payments"].fetch(_ESCROWS)}
    return [
        f"order {order['id']} is {order['status']}: {order['refunded_minor']} kobo shown as refunded, payments posted "
        f"{posted.get(order['id'], 0)}"
        for order in await databases["orders"].fetch(_ORDERS)
        if order["refunded_minor"] != posted.get(order["id"], 0)
    ]


async def _escrow_and_wallets(databases: Connections, _: httpx.AsyncClient) -> list[str]:
    shares = {row["order_id"]: row["remaining_vendor_minor"] for row in await databases["payouts"].fetch(_SHARES)}
    return [
        f"order {row['order_id']}: payments locks {row['locked_vendor_minor']} kobo for the vendor, payouts knows "
        f"{shares.get(row['order_id'])}"
        for row in await databases["payments"].fetch(_ESCROWS)
        if shares.get(row["order_id"]) != row["locked_vendor_minor"]
    ]


async def _two_books(databases: Connections, _: httpx.AsyncClient) -> list[str]:
    owed = await databases["payments"].fetchval(_VENDOR_PAYABLE)
    received = await databases["payouts"].fetchval(_ENTRIES_OF, "escrow_released")
    return [] if owed == received else [f"payments owes vendors {owed} kobo, payouts received {received}"]


async def _gateway_book(databases: Connections, sandbox: httpx.AsyncClient) -> list[str]:
    book = (await sandbox.get("/control/book")).raise_for_status().json()
    movements = await _movements(sandbox)
    ours = await databases["payments"].fetchval(_ENTRIES_OF, "gateway_cash")
    ours += await databases["payouts"].fetchval(_ENTRIES_OF, "gateway_cash")
    # A transfer leaves the gateway when it is accepted, and our book when the bank confirms it.
    # One that came back may leave again, when the bank contradicts itself: what counts is the sum.
    moved: Counter[str] = Counter()
    for movement in movements:
        if movement["kind"] in ("transfer", "transfer_failed", "transfer_reversed"):
            moved[movement["reference"]] -= movement["amount_minor"]
    left = {reference for reference, minor in moved.items() if minor > 0}
    on_the_way = await databases["payouts"].fetchval(_ON_THE_WAY, list(left))
    on_the_way += await databases["payments"].fetchval(_REFUNDS_ON_THE_WAY, list(left))
    theirs = book["balance"] - book.get("opening", {}).get("amount_minor", 0) + on_the_way
    return (
        []
        if ours == theirs
        else [f"the gateway holds {theirs} kobo of ours (with {on_the_way} on the way), our books say {ours}"]
    )


async def _movements(sandbox: httpx.AsyncClient) -> list[dict[str, Any]]:
    movements: list[dict[str, Any]] = []
    before: dict[str, Any] = {}
    while True:
        answer = (
            (await sandbox.get("/control/book/movements", params={"limit": 500, "currency": "NGN", **before}))
            .raise_for_status()
            .json()
        )
        page = answer if isinstance(answer, list) else answer["movements"]
        movements.extend(page)
        if len(page) < 500:
            return movements
        before = {"before": page[-1]["id"]}


def _chain(service: str) -> Comparison:
    async def offending(databases: Connections, _: httpx.AsyncClient) -> list[str]:
        report = await verify_chain(databases[service].fetch)
        return [] if report.broken is None else [f"{service}, {report.length} links: {report.broken}"]

    return Comparison(f"the past of the {service} book is what its chain of hashes says", offending)


COMPARISONS: Final[tuple[Comparison, ...]] = (
    Comparison("escrow equals the orders whose money is held", _orders_and_escrow),
    Comparison("what each order shows as refunded is what payments posted", _refunds),
    Comparison("every vendor's locked share is the same in both books", _escrow_and_wallets),
    Comparison("what payments released is what payouts received", _two_books),
    Comparison("the payment gateway's own book equals ours", _gateway_book),
    _chain("payments"),
    _chain("payouts"),
)
