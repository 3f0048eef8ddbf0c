"""Accounts that transfers go to."""

from sqlite3 import Row

from starlette.requests import Request
from starlette.responses import Response

from sandbox.clock import now_text
from sandbox.database import Database
from sandbox.gateway.banks import BANK_NAMES, resolve_name
from sandbox.gateway.codes import new_code
from sandbox.gateway.events import recipient_view
from sandbox.gateway.fields import read_currency, read_text
from sandbox.gateway.nuban import is_account_number
from sandbox.web import RefusedError, ok, read_json
from sandbox.world import world_of


async def create_recipient(request: Request) -> Response:
    """Create a recipient. An account at a bank is always the same one, whatever its name."""
    database = world_of(request).database
    body = await read_json(request)
    if read_text(body, "type") != "nuban":
        raise RefusedError(400, "Only recipients of type nuban are supported")
    name = read_text(body, "name")
    account_number = read_text(body, "account_number")
    bank_code = read_text(body, "bank_code")
    currency = read_currency(body)
    recipient = save_recipient(database, name, account_number, bank_code, currency)
    owner = resolve_name(database, bank_code, account_number)
    return ok("Transfer recipient created successfully", recipient_view(recipient, owner), 201)


def save_recipient(database: Database, name: str, account_number: str, bank_code: str, currency: str) -> Row:
    """Return the account's recipient, new or the one that it has. Raises RefusedError 400 for an impossible account."""
    if bank_code not in BANK_NAMES:
        raise RefusedError(400, "Bank is invalid")
    if not is_account_number(account_number):
        raise RefusedError(400, "Account number is invalid")
    database.run(
        "INSERT INTO recipients (recipient_code, name, account_number, bank_code, currency, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (account_number, bank_code) DO NOTHING",
        new_code("RCP_"),
        name,
        account_number,
        bank_code,
        currency,
        now_text(),
    )
    recipient = database.one(
        "SELECT * FROM recipients WHERE account_number = ? AND bank_code = ?", account_number, bank_code
    )
    if recipient is None:
        raise LookupError(account_number)
    return recipient


async def show_recipient(request: Request) -> Response:
    database = world_of(request).database
    recipient = database.one("SELECT * FROM recipients WHERE recipient_code = ?", request.path_params["code"])
    if recipient is None:
        raise RefusedError(404, "Transfer recipient not found", "recipient_not_found")
    owner = resolve_name(database, recipient["bank_code"], recipient["account_number"])
    return ok("Transfer recipient retrieved", recipient_view(recipient, owner))
