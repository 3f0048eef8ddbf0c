"""Transactions at both gateways, for developers: which of them wait for a payer."""

from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.gateway.charges import CHARGES
from sandbox.gateway.fields import read_number
from sandbox.web import JsonResponse, RefusedError
from sandbox.world import world_of

LISTED_DEFAULT = 50
LISTED_MAX = 500
STATUSES = ("abandoned", "success", "failed")


async def show_charges(request: Request) -> Response:
    """Newest first. `abandoned` is a transaction that was not paid yet; pay or decline it by its `reference`."""
    world, given = world_of(request), request.query_params
    if "status" in given and given["status"] not in STATUSES:
        raise RefusedError(400, f"status must be one of {', '.join(STATUSES)}")
    limit = read_number(request, "limit", LISTED_DEFAULT, LISTED_MAX)
    rows = list_charges(world.database, given.get("status"), given.get("email"), limit)
    return JsonResponse([_view(row, world.settings.base_url) for row in rows])


def list_charges(
    database: Database, status: str | None = None, email: str | None = None, limit: int = LISTED_DEFAULT
) -> list[Row]:
    """Newest first, with the customer's address as `email`."""
    return database.all(
        f"SELECT * FROM {CHARGES} WHERE (?1 IS NULL OR listed.status = ?1) AND (?2 IS NULL OR email = ?2)"
        " ORDER BY listed.id DESC LIMIT ?3",
        status,
        email,
        limit,
    )


def _view(row: Row, base_url: str) -> dict[str, Any]:
    return {
        "reference": row["reference"],
        "status": row["status"],
        "amount": row["requested_minor"],
        "currency": row["requested_currency"],
        "email": row["email"],
        "gateway": row["gateway"],
        "page": f"{base_url}/pay/{row['access_code']}",
        "created_at": row["created_at"],
    }
