"""`python -m lab.bench.calls <call> <connections>`: call one function of a service in a closed loop.

Measures the cost of a function without HTTP. Each line of the standard input is the length of a run in seconds (`3.0`);
the program prints one line of JSON for it. The CPU time of this process is that of the function.
"""

import asyncio
import json
import os
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import uvloop

from common.auth.caller import ANONYMOUS, THE_SERVICE, Caller
from common.database.outbox import Handover
from common.database.unit_of_work import Acting, Database, UnitOfWork
from common.ledger import posting as ledger
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from common.web.pages import CursorPage, CursorRequest
from contracts.permissions import permissions_of
from lab.bench import catalogs, seeds
from lab.bench.figures import percentile
from orders.domain.checkouts import Checkout, CheckoutRules
from orders.domain.orders import Windows
from orders.domain.quotes import RequestedItem
from orders.domain.unpaid_limits import UnpaidLimits
from orders.queries.orders import page_of_orders
from orders.queries.products import page_of_products
from orders.store.contacts import ContactEncryption
from orders.use_cases.orders.place_orders import place_orders
from payments.domain import postings

Call = Callable[[Database], Awaitable[Any]]
_BUYER = frozenset({"buyer"})
_WINDOWS = Windows(timedelta(minutes=15), timedelta(days=3), timedelta(days=14), timedelta(days=7))
_RULES = CheckoutRules(_WINDOWS, UnpaidLimits(10, 50), cells=None)
_SIGNER = CursorSigner("a cursor key for the bench")
_CONTACTS = ContactEncryption(Encryptor("orders: contacts", "a pin key for the bench"))
_PAGE = 20


def buyer(user_id: UUID) -> Caller:
    """Return the caller that a verified token of a buyer names."""
    return Caller(user_id=user_id, roles=_BUYER, permissions=permissions_of(_BUYER))


async def checkout(database: Database, product: int | None = None) -> None:
    """Place an order of one product, as POST /api/orders/checkout does."""
    number = product or random.randint(1, seeds.PRODUCTS)
    requested = Checkout([RequestedItem(seeds.product_id(number), 1)], None, None, None, None)
    caller = buyer(new_id())
    async with database.unit_of_work(acting_as=caller) as uow:
        await place_orders(uow, caller, requested, key=new_id(), now=datetime.now(UTC), rules=_RULES)


async def ledger_post(database: Database) -> None:
    """Post a charge to escrow in its own unit of work."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await ledger.post(uow, _charge())


async def ledger_post_alone(database: Database) -> None:
    """Post a charge without a surrounding transaction: one round trip, committed automatically."""
    async with database.service.connection() as connection:
        await ledger.post(UnitOfWork(connection, THE_SERVICE, handover=Handover()), _charge())


def _charge() -> ledger.Posting:
    order_id = new_id()
    return postings.charge(
        str(order_id),
        {order_id: 150_000},
        order_id,
        amount_minor=150_000,
        surplus_minor=0,
        surcharge_minor=0,
    )


async def own_orders(database: Database, number: int | None = None, acting_as: Acting | None = None) -> None:
    """Read the newest page of a buyer's orders under row security; as THE_SERVICE past the policies."""
    caller = _BUYERS[number or random.randint(1, seeds.BUYERS)]
    page = await page_of_orders(database.reads_for(acting_as or caller), _requested(), _CONTACTS, caller)
    if len(page.items) != _PAGE:
        raise RuntimeError(f"the page has {len(page.items)} orders, expected {_PAGE}")


async def products_first_page(database: Database) -> None:
    """Read the newest products."""
    await _products(database, {})


async def products_deep_page(database: Database) -> None:
    """Read page 500 of the newest products by its cursor, or the middle page of a smaller catalog."""
    if not _DEEP:
        cursors: list[str] = []
        page = await _products(database, {})
        while page.next_cursor is not None and len(cursors) < _DEEP_PAGE - 1:
            cursors.append(page.next_cursor)
            page = await _products(database, {}, cursor=page.next_cursor)
        _DEEP.append(cursors[-1] if page.next_cursor is not None else cursors[len(cursors) // 2])
    await _products(database, {}, cursor=_DEEP[0])


async def products_search(database: Database) -> None:
    """Search by relevance: words of many names, of few names, and misspelled words."""
    await _products(database, {"q": random.choice(catalogs.SEARCHES)}, "relevance")


async def products_filter(database: Database) -> None:
    """Filter by one category or by a range of prices, newest first."""
    narrow = {"category": f"category {random.randint(0, 49)}"}
    cheap = {"minPriceMinor": 1_000_000, "maxPriceMinor": random.choice((1_100_000, 3_000_000))}
    await _products(database, random.choice((narrow, cheap)))


async def _products(
    database: Database, filters: dict[str, Any], sort: str = "newest", cursor: str | None = None
) -> CursorPage[Any]:
    page = await page_of_products(database, _requested(cursor), ANONYMOUS, filters, sort, now=datetime.now(UTC))
    if not page.items:
        raise RuntimeError(f"no product matches {filters}")
    return page


def _requested(cursor: str | None = None) -> CursorRequest:
    return CursorRequest(_SIGNER, _PAGE, cursor)


_DEEP_PAGE = 500
_DEEP: list[str] = []
_BUYERS = {number: buyer(seeds.buyer_id(number)) for number in range(1, seeds.BUYERS + 1)}
CALLS: dict[str, Call] = {
    "checkout": checkout,
    "ledger_post": ledger_post,
    "ledger_post_alone": ledger_post_alone,
    "own_orders": own_orders,
    "products_first_page": products_first_page,
    "products_deep_page": products_deep_page,
    "products_search": products_search,
    "products_filter": products_filter,
}


async def main() -> None:
    call, connections = CALLS[sys.argv[1]], int(sys.argv[2])
    api_url, service_url = os.environ["API_DATABASE_URL"], os.environ["SERVICE_DATABASE_URL"]
    async with Database.connect(api_url=api_url, service_url=service_url, name="bench-calls") as database:
        await call(database)
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await _run(call, database, connections, float(line))), flush=True)


async def _run(call: Call, database: Database, connections: int, seconds: float) -> dict[str, Any]:
    times: list[float] = []
    began, spent = time.perf_counter(), _cpu_seconds()
    until = began + seconds

    async def loop() -> None:
        while (start := time.perf_counter()) < until:
            await call(database)
            times.append((time.perf_counter() - start) * 1000)

    await asyncio.gather(*(loop() for _ in range(connections)))
    return {
        "requests": len(times),
        "seconds": time.perf_counter() - began,
        "cpu_seconds": _cpu_seconds() - spent,
        "p50_ms": percentile(times, 0.5),
        "p99_ms": percentile(times, 0.99),
    }


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    uvloop.run(main())
