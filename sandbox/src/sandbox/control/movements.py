"""Reads balances and money movements, and seeds accounts."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.gateway.banks import save_account
from sandbox.gateway.fields import read_number, read_text
from sandbox.gateway.paging import Conditions
from sandbox.web import JsonResponse, read_json
from sandbox.world import world_of

# Movement kind to the name in the summary. The returned money of a transfer has a line of its own.
LINES = {
    "opening": "opening",
    "charge": "charges",
    "transfer": "transfers",
    "transfer_failed": "transfers_failed",
    "transfer_reversed": "transfers_reversed",
    "transfer_fee": "transfer_fees",
    "transfer_fee_returned": "transfer_fees_returned",
    "transfer_fee_again": "transfer_fees_again",
    "refund": "refunds",
    "chargeback": "chargebacks",
    "charge_fee": "charge_fees",
    "settlement": "settlements",
}
MOVEMENTS_MAX = 1000
MOVEMENT_ID_MAX = 10**18 - 1


async def show_balance(request: Request) -> Response:
    """Return the balance at one `gateway` (`paystack`) and the totals of every kind of movement; the top level is NGN,
    `currencies` has each currency."""
    database = world_of(request).database
    gateway = request.query_params.get("gateway", "paystack")
    listed = database.all("SELECT DISTINCT currency FROM movements WHERE gateway = ?", gateway)
    currencies = sorted({"NGN", *(row["currency"] for row in listed)})
    summaries = {currency: _summary(database, currency, gateway) for currency in currencies}
    return JsonResponse({**summaries["NGN"], "currencies": summaries})


def _summary(database: Database, currency: str, gateway: str) -> dict[str, Any]:
    summary: dict[str, Any] = {"balance": database.balance_minor(currency, gateway)}
    summary.update({line: {"count": 0, "amount_minor": 0} for line in LINES.values()})
    rows = database.all(
        "SELECT kind, count(*) AS count, sum(amount_minor) AS total FROM movements"
        " WHERE currency = ? AND gateway = ? GROUP BY kind",
        currency,
        gateway,
    )
    for row in rows:
        summary[LINES[row["kind"]]] = {"count": row["count"], "amount_minor": abs(row["total"])}
    summary["movements"] = sum(row["count"] for row in rows)
    return summary


async def list_movements(request: Request) -> Response:
    """Movements newest first; `reference`, `kind`, `currency`, `limit` (at most 1000), `before` (an id) narrow them."""
    given = request.query_params
    limit = read_number(request, "limit", MOVEMENTS_MAX, MOVEMENTS_MAX)
    before = read_number(request, "before", MOVEMENT_ID_MAX, MOVEMENT_ID_MAX)
    conditions: Conditions = [("id < ?", before)]
    conditions += [
        (f"{name} = ?", given[name]) for name in ("reference", "kind", "currency", "gateway") if name in given
    ]
    where = " AND ".join(condition for condition, _ in conditions)
    rows = world_of(request).database.all(
        f"SELECT * FROM movements WHERE {where} ORDER BY id DESC LIMIT ?",
        *(value for _, value in conditions),
        limit,
    )
    return JsonResponse([dict(row) for row in rows])


async def put_account(request: Request) -> Response:
    """`{bank_code, account_number, account_name}`: from now on this account exists and belongs to this name."""
    body = await read_json(request)
    fields = [read_text(body, name) for name in ("bank_code", "account_number", "account_name")]
    save_account(world_of(request).database, *fields)
    return JsonResponse({"bank_code": fields[0], "account_number": fields[1], "account_name": fields[2]})


async def list_accounts(request: Request) -> Response:
    rows = world_of(request).database.all("SELECT * FROM accounts ORDER BY bank_code, account_number")
    return JsonResponse([dict(row) for row in rows])
