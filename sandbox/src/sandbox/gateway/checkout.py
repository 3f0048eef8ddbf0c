"""The checkout page. Tests post the same form and accept JSON."""

from sqlite3 import Row
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sandbox.gateway.charges import decline, find_charge, pay
from sandbox.gateway.fields import read_amount_minor, read_currency, read_text
from sandbox.pages import render
from sandbox.web import RefusedError, ok, read_json
from sandbox.world import World, world_of

# The reason of a bank, in one line.
REASON_CHARACTERS_MAX = 200
CHANNEL_NAMES = {"card": "Card", "bank_transfer": "Bank transfer", "ussd": "USSD"}


async def show_checkout(request: Request) -> Response:
    charge = find_charge(world_of(request).database, "access_code", request.path_params["access_code"])
    if charge is None:
        return render("checkout.html", 404, charge=None)
    return _page(charge)


def _page(charge: Row, problem: str | None = None) -> Response:
    channels = [(channel, CHANNEL_NAMES[channel]) for channel in charge["channels"].split(",")]
    return render("checkout.html", 200 if problem is None else 400, charge=charge, channels=channels, problem=problem)


async def submit_checkout(request: Request) -> Response:
    """Pay or decline. `action` is `pay` (the default) or `decline`, the latter with the bank's `reason`; `amount`,
    `currency` and `channel` override those of the transaction.
    """
    world = world_of(request)
    access_code = request.path_params["access_code"]
    fields = await _read_fields(request)
    wants_json = "application/json" in request.headers.get("accept", "")
    try:
        charge = end_checkout(world, access_code, read_text(fields, "action", "pay"), fields)
    except RefusedError as refusal:
        charge_found = find_charge(world.database, "access_code", access_code)
        if wants_json or charge_found is None:
            raise
        return _page(charge_found, refusal.message)
    return _json(charge) if wants_json else _redirect(charge)


def end_checkout(world: World, access_code: str, action: str, fields: dict[str, Any]) -> Row:
    """Pay or decline the transaction. Raises RefusedError 400 and 404."""
    if action == "decline":
        return decline(world, access_code, read_text(fields, "reason", "Declined")[:REASON_CHARACTERS_MAX])
    if action != "pay":
        raise RefusedError(400, "action must be pay or decline")
    amount_minor = read_amount_minor(fields["amount"]) if fields.get("amount") else None
    currency = read_currency(fields) if fields.get("currency") else None
    return pay(world, access_code, amount_minor, currency, read_text(fields, "channel", "") or None)


async def _read_fields(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").startswith("application/json"):
        return await read_json(request)
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def _json(charge: Row) -> Response:
    return ok(
        charge["gateway_response"],
        {
            "reference": charge["reference"],
            "status": charge["status"],
            "amount": charge["amount_minor"],
            "currency": charge["currency"],
            "channel": charge["channel"],
            "redirect_url": _return_address(charge),
        },
    )


def _redirect(charge: Row) -> Response:
    address = _return_address(charge)
    if charge["status"] == "success" and address is not None:
        return RedirectResponse(address, 303)
    return _page(charge)


def _returned_fields(charge: Row) -> dict[str, str]:
    """Return the query that each gateway adds to the merchant's callback address."""
    if charge["gateway"] == "flutterwave":
        return {"status": "successful", "tx_ref": charge["reference"], "transaction_id": str(charge["id"])}
    return {"trxref": charge["reference"], "reference": charge["reference"]}


def _return_address(charge: Row) -> str | None:
    """Return the merchant's callback address with the gateway's query added."""
    if charge["callback_url"] is None:
        return None
    parts = urlsplit(str(charge["callback_url"]))
    added = urlencode(_returned_fields(charge))
    return urlunsplit(parts._replace(query=f"{parts.query}&{added}" if parts.query else added))
