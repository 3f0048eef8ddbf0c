"""Parts of pages: rows that a role may not read, images, and fields that several forms have."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.formats import LAGOS
from console.visit import InvalidField, Visit

NAMED_MAX: Final = 100
"""The API names so many colleagues or vendors at once."""
_OF_VENDOR: Final = frozenset(["vendor_payable", "wallet", "held", "vendor_debt"])
"""The kinds of accounts of both ledgers that belong to a vendor."""


async def all_rows(visit: Visit, path: str, **parameters: Any) -> list[Json]:
    """All rows of a list, up to 10,000."""
    return [row async for row in visit.api.every_row(path, **parameters)]


async def rows_of_part(visit: Visit, path: str, **parameters: Any) -> list[Json]:
    """Return the rows of a part of a page; none where the user may not read it, or there is no such resource."""
    return await part(visit, path, **parameters) or []


async def part(visit: Visit, path: str, **parameters: Any) -> Any:
    """Return a part of a page; None where the user may not read it, or there is no such resource."""
    try:
        return await visit.api.get(path, **parameters)
    except ApiProblem as problem:
        if problem.status in (403, 404):
            return None
        raise


async def names_of(visit: Visit, *ids: str | None) -> dict[str, str]:
    """Return the names of colleagues by id, for those who may read them. An id that is no member of staff has none."""
    colleagues = sorted({one for one in ids if one})
    if not colleagues or not visit.may("staff_names:read"):
        return {}
    found = await visit.api.page("/api/staff-names", id=colleagues[:NAMED_MAX], limit=NAMED_MAX)
    return {one["id"]: one["name"] for one in found.items}


async def account_names(visit: Visit, rows: Sequence[Json]) -> dict[str, str]:
    """Return the orders and vendors of the rows' ledger accounts by account: one request names the vendors of a page.

    A row is an account, or has `entries`. A vendor who is suspended or erased has no name.
    """
    names: dict[str, str] = {}
    vendors: dict[str, str] = {}
    for row in rows:
        names |= row.get("orderNumbers") or {}
        if number := row.get("orderNumber"):
            names[row["account"]] = number
        for entry in row.get("entries") or [row]:
            kind, _, subject = entry["account"].partition(":")
            if kind in _OF_VENDOR:
                vendors[entry["account"]] = subject
    if not vendors:
        return names
    ids = sorted(set(vendors.values()))[:NAMED_MAX]
    found = await visit.api.page("/api/vendors", id=ids, limit=NAMED_MAX)
    by_id = {one["id"]: one["businessName"] for one in found.items}
    return names | {account: by_id[subject] for account, subject in vendors.items() if subject in by_id}


async def nothing() -> None:
    """Return the place of a part that is not requested."""


async def command(visit: Visit, body: Json | None, notice: str, **more: Any) -> Response:
    """Return an action whose address is that of the API's operation: post the body there, and show the resource with a
    notice.

    `more` are files instead of a body.
    """
    await visit.api.post(f"/api{visit.path}", body, **more)
    return visit.go(visit.path.rpartition("/")[0], notice)


async def show_image(visit: Visit, path: str) -> Response:
    """Return an image that only its parties and staff may see, under the user's own token."""
    image = await visit.api.document(path)
    if not image.media_type.startswith("image/"):
        raise ApiProblem(415, {"title": "This is no image"})
    return Response(image.content, media_type=image.media_type)


def needed(number: int | None, name: str) -> int:
    """Return the number of a required field. Raises InvalidField."""
    if number is None:
        raise InvalidField(name, "is needed")
    return number


def lagos_instant(visit: Visit, name: str) -> str:
    """Return the instant of a `datetime-local` field, which holds Lagos time, with its offset. Raises InvalidField."""
    try:
        return datetime.fromisoformat(visit.form[name]).replace(tzinfo=LAGOS).isoformat()
    except ValueError:
        raise InvalidField(name, "choose a date and a time") from None


def cancelled_minor(order: Json) -> int:
    """Return the price of the cancelled items of an order, in kobo."""
    return sum(int(item["lineTotalMinor"]) for item in order["items"] if item["cancelledAt"])


def item_choices(order: Json) -> list[tuple[str, str]]:
    """Return the items of a paid order that can be cancelled alone as the options of a selection: not the last one."""
    left = [(item["id"], item["name"]) for item in order["items"] if not item["cancelledAt"]]
    return left if len(left) > 1 else []


async def cancel_item(visit: Visit) -> None:
    """Cancel the chosen item of the order."""
    path = f"/api/orders/{visit['id']}/items/{visit.form['itemId']}/cancel"
    await visit.api.post(path, {"reason": visit.form["itemReason"]})
