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
_ORDERS_TOLD: Final = "SELECT id, buyer_id, vendor_id, total_amount, commission_minor, delivery_fee_minor FROM orders"
_ORDERS_HEARD: Final = (
    "SELECT id, buyer_id, vendor_id, total_minor, commission_minor, delivery_fee_minor FROM payable_orders"
)
_OWED_TO_VENDORS: Final = """
SELECT split_part(account, ':', 2) AS vendor, balance_minor AS minor FROM ledger_balances
WHERE account LIKE 'vendor_payable:%' AND balance_minor <> 0
"""
# Whose wallet or debt stands on the other side of what came from escrow, or went back to it.
_RECEIVED_BY_VENDORS: Final = """
SELECT split_part(e.account, ':', 2) AS vendor, -sum(e.amount_minor)::bigint AS minor FROM ledger_entries e
WHERE (e.account LIKE 'wallet:%' OR e.account LIKE 'vendor_debt:%') AND e.transaction_id IN (
    SELECT transaction_id FROM ledger_entries WHERE account = 'escrow_released'
) GROUP BY 1 HAVING sum(e.amount_minor) <> 0
"""
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
    owed = Counter({row["vendor"]: row["minor"] for row in await databases["payments"].fetch(_OWED_TO_VENDORS)})
    received = Counter({row["vendor"]: row["minor"] for row in await databases["payouts"].fetch(_RECEIVED_BY_VENDORS)})
    return [
        f"payments owes vendor {vendor} {owed[vendor]} kobo, payouts received {received[vendor]}"
        for vendor in sorted(owed.keys() | received.keys())
        if owed[vendor] != received[vendor]
    ]


async def _orders_as_told(databases: Connections, _: httpx.AsyncClient) -> list[str]:
    heard = {row["id"]: tuple(row) for row in await databases["payments"].fetch(_ORDERS_HEARD)}
    return [
        f"order {order['id']} is of other parties or amounts than payments heard"
        for order in await databases["orders"].fetch(_ORDERS_TOLD)
        if heard.get(order["id"]) != tuple(order)
    ]


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
    Comparison("every order is of the parties and amounts that payments heard", _orders_as_told),
    Comparison("escrow equals the orders whose money is held", _orders_and_escrow),
    Comparison("what each order shows as refunded is what payments posted", _refunds),
    Comparison("every vendor's locked share is the same in both books", _escrow_and_wallets),
    Comparison("what payments released is what payouts received", _two_books),
    Comparison("the payment gateway's own book equals ours", _gateway_book),
    _chain("payments"),
    _chain("payouts"),
)
