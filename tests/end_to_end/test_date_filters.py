"""Every date filter and every CSV file of the API through the edge (contract section 1.8): `from` is included, `to` is
not, a date alone is its midnight in Lagos; a file has a byte order mark, and no cell that a spreadsheet would run.
"""

import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import httpx

from common.web.csv_export import INCOMPLETE
from contracts.demo import ADA
from operations.journey import Marketplace

from .conftest import Users

OF_VENDOR: Final = f"/api/vendors/{ADA.id}"
# Operation: path, reader, the field with the filtered time.
LISTS: Final = {
    "orders.list": ("/api/orders", "buyer", "createdAt"),
    "orders.listByCampus": ("/api/campus-orders", "campus", "createdAt"),
    "payments.list": ("/api/payments", "buyer", "createdAt"),
    "refunds.list": ("/api/refunds", "buyer", "createdAt"),
    "payouts.list": ("/api/payouts", "vendor", "createdAt"),
    "ledger.listTransactions": ("/api/transactions", "auditor", "createdAt"),
    "wallets.listStatement": ("/api/wallets/current/statement", "vendor", "at"),
    "wallets.listStatementByVendor": (f"{OF_VENDOR}/statement", "auditor", "at"),
}
# Operation: path, reader, the list whose rows the file has.
FILES: Final = {
    "orders.exportByCampus": ("/api/campus-orders/export", "auditor", "orders.listByCampus"),
    "ledger.exportTransactions": ("/api/transactions/export", "auditor", "ledger.listTransactions"),
}
# Operation: path, reader, the group of the test's product.
SALES: Final = {
    "sales.list": ("/api/sales", "auditor", "category"),
    "sales.listByVendor": (f"{OF_VENDOR}/sales", "vendor", "product"),
}
# Operation: path, reader, parameter of one instant.
INSTANTS: Final = {
    "ledger.listAccounts": ("/api/ledger/accounts", "auditor", "at"),
    "ledger.getTrialBalance": ("/api/ledger/trial-balance", "auditor", "at"),
    "staff.listOwnActions": ("/api/staff-acts/current", "support", "before"),
}
FILES_WITHOUT_DATES: Final = {
    "products.export": (f"{OF_VENDOR}/products/export", "vendor"),
    "wallets.exportMonthlyStatement": (
        f"/api/wallets/current/statements/{datetime.now(UTC) + timedelta(hours=1):%Y-%m}/export",
        "vendor",
    ),
}
_RUNS: Final = re.compile(r"[\s'\"]*[=+\-@]")
_NUMBER: Final = re.compile(r"-?\d+(\.\d\d)?")
STEP: Final = timedelta(milliseconds=1)


def operations_of(document: dict[str, Any]) -> Iterator[tuple[str, set[str], bool]]:
    """Yield each GET operation, its query parameters that are instants, and whether it has a CSV file."""
    for path in document["paths"].values():
        if operation := path.get("get"):
            named = {
                each["name"]
                for each in operation.get("parameters", ())
                if each.get("in") == "query" and "date-time" in str(each["schema"])
            }
            yield operation["operationId"], named, "text/csv" in str(operation["responses"])


async def test_every_date_filter_and_every_file_is_in_the_tables_of_this_test(market: Marketplace) -> None:
    document = (await market.http.get("/openapi.json")).json()
    walked = {operation: {"from", "to"} for operation in (*LISTS, *FILES, *SALES)}
    walked |= {operation: {parameter} for operation, (_, _, parameter) in INSTANTS.items()}
    assert {name: found for name, found, _ in operations_of(document) if found} == walked
    files = {name for name, _, has_file in operations_of(document) if has_file}
    assert files == {*FILES, *SALES, *FILES_WITHOUT_DATES}


async def sold_product(market: Marketplace, users: Users) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a new product with names that a spreadsheet would run, and its one order, which is released."""
    name = uuid4().hex[:10]
    body = {"name": f"=1+1 {name}", "description": "+x", "category": f"@{name}", "priceMinor": 150_000, "stock": 9}
    product = await market.post("/api/products", body, users.vendor)
    before = await market.wallet(users.vendor)
    order = await market.checkout(users.buyer, product["id"])
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    await market.dispatch(users.vendor, order["id"])
    await market.verify_delivery(users.vendor, order["id"], await market.delivery_pin(users.buyer, order["id"]))
    await market.wallet_reaches(users.vendor, before["availableMinor"] + 1)
    return product, await market.order_reaches(users.buyer, order["id"], "paid")


async def read(market: Marketplace, users: Users, path: str, reader: str, **query: Any) -> httpx.Response:
    shown = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in query.items()}
    accept = {"Accept": "text/csv"} if shown.pop("csv", False) else {}
    headers = {**getattr(users, reader).headers, **accept}
    response = await market.http.get(path, params=shown, headers=headers)
    assert response.status_code in (200, 422), response.text
    return response


def period(start: datetime, end: datetime) -> dict[str, datetime]:
    return {"from": start, "to": end}


def rows_of(response: httpx.Response) -> list[list[str]]:
    """Return the rows of a file below its head, after checks of what holds for each file."""
    assert response.headers["content-type"].startswith("text/csv")
    text = response.content.decode()
    assert text.startswith("\ufeff")
    assert text.endswith("\r\n")
    head, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    assert {len(row) for row in rows} <= {len(head)}
    assert INCOMPLETE not in text
    runs = [cell for row in rows for cell in row if _RUNS.match(cell) and not cell.startswith("'")]
    assert [cell for cell in runs if not _NUMBER.fullmatch(cell)] == []
    return rows


async def test_from_is_included_and_to_is_not_in_every_list_and_file(market: Marketplace, users: Users) -> None:
    product, _ = await sold_product(market, users)
    await market.request_payout(users.vendor, 10_000)
    returned = await market.checkout(users.buyer, product["id"])
    await market.pay(await market.pay_intent(users.buyer, returned["id"]))
    await market.order_reaches(users.buyer, returned["id"], "paid_escrow")
    await market.post(f"/api/orders/{returned['id']}/cancel", {"reason": "Two by mistake."}, users.buyer)
    await market.order_reaches(users.buyer, returned["id"], "refunded")
    for operation, (path, reader, field) in LISTS.items():
        row = (await read(market, users, path, reader, limit=1)).json()["data"][0]
        at = datetime.fromisoformat(row[field])
        within, before, after = period(at, at + STEP), period(at - STEP, at), period(at + STEP, at + 2 * STEP)
        shown = []
        for query in (within, before, after):
            found = (await read(market, users, path, reader, limit=100, **query)).json()["data"]
            shown.append(row["id"] in {one["id"] for one in found})
        assert shown == [True, False, False], operation
        for file, (file_path, file_reader, of) in FILES.items():
            if of == operation:
                files = [rows_of(await read(market, users, file_path, file_reader, **one)) for one in (within, before)]
                assert [any(row["id"] in cells for cells in rows) for rows in files] == [True, False], file


async def test_sales_include_from_and_exclude_to(market: Marketplace, users: Users) -> None:
    product, _ = await sold_product(market, users)
    for operation, (path, reader, group) in SALES.items():
        name = product["category"] if group == "category" else product["name"]

        async def is_shown(
            start: datetime, end: datetime, path: str = path, reader: str = reader, group: str = group, name: str = name
        ) -> bool:
            query = {"groupBy": group, "limit": 100, **period(start, end)}
            found = name in {one["label"] for one in (await read(market, users, path, reader, **query)).json()["data"]}
            rows = rows_of(await read(market, users, path, reader, csv=True, **query))
            assert (f"'{name}" in {cell for row in rows for cell in row}) == found
            return found

        # No response has the instant of a sale: the shortest period before which it is not shown ends with it.
        start = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10)
        earlier, later = 0, 11 * 60_000
        assert await is_shown(start, start + later * STEP), operation
        while later - earlier > 1:
            middle = (earlier + later) // 2
            earlier, later = (earlier, middle) if await is_shown(start, start + middle * STEP) else (middle, later)
        at = start + earlier * STEP
        shown = [await is_shown(at + shift, at + shift + STEP) for shift in (timedelta(0), STEP, -STEP)]
        assert shown == [True, False, False], operation


async def test_files_without_dates_are_safe_in_a_spreadsheet(market: Marketplace, users: Users) -> None:
    await sold_product(market, users)
    for operation, (path, reader) in FILES_WITHOUT_DATES.items():
        assert rows_of(await read(market, users, path, reader)), operation


async def test_every_date_filter_accepts_dates_and_offsets_and_rejects_other_times(
    market: Marketplace, users: Users
) -> None:
    filters = [
        (path, reader, name) for path, reader, _ in (*LISTS.values(), *SALES.values()) for name in ("from", "to")
    ]
    filters += list(INSTANTS.values())
    filters += [(path, reader, "from") for path, reader, _ in FILES.values()]
    for path, reader, name in filters:
        for text in ("2026-01-31", "2026-01-31T00:00:00+01:00", "2026-01-30T23:00:00Z"):
            response = await read(market, users, path, reader, **{name: text})
            assert response.status_code == 200 or _names(response) == ["to"], (path, name, response.text)
        for text in ("2026-01-31T12:00:00", "yesterday", "1767225600", "2026-02-30"):
            response = await read(market, users, path, reader, **{name: text})
            assert (response.status_code, _names(response)) == (422, [name]), (path, name, text)


def _names(response: httpx.Response) -> list[str]:
    return [one["name"] for one in response.json()["invalid_params"]]
