"""Banks and the owners of their accounts."""

from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.faults import respond_with_faults
from sandbox.gateway.fields import read_cursor, read_number, write_cursor
from sandbox.gateway.nuban import account_exists, is_account_number, name_of_unknown_account
from sandbox.sinks.accounts import account_state
from sandbox.web import RefusedError, ok, refused
from sandbox.world import world_of

BANKS: list[dict[str, str]] = msgspec.json.decode(
    (Path(__file__).parent.parent / "data" / "nigerian-banks.json").read_bytes(), type=list[dict[str, str]]
)
BANK_NAMES = {bank["code"]: bank["name"] for bank in BANKS}

# The page size, and its bound.
BANKS_PER_PAGE = 100

# The vendors of the demo data; the README shows the same table.
DEMO_ACCOUNTS = (
    ("058", "0123456785", "Ada Obi Ventures"),
    ("044", "0690123456", "Bola Ade Stores"),
)


def bank_name(bank_code: str) -> str:
    return BANK_NAMES.get(bank_code, "")


def seed_demo_accounts(database: Database) -> None:
    """Create the accounts of the demo vendors; a name that was changed by hand is kept."""
    with database.transaction():
        for account in DEMO_ACCOUNTS:
            database.run(
                "INSERT INTO accounts (bank_code, account_number, account_name) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                *account,
            )


def save_account(database: Database, bank_code: str, account_number: str, account_name: str) -> None:
    """Name the owner of an account; raises RefusedError 400 for an unknown bank or a number that is not ten digits."""
    if bank_code not in BANK_NAMES:
        raise RefusedError(400, f"Unknown bank code: {bank_code}")
    if not is_account_number(account_number):
        raise RefusedError(400, "account_number must be ten digits")
    database.run(
        "INSERT INTO accounts (bank_code, account_number, account_name) VALUES (?, ?, ?)"
        " ON CONFLICT (bank_code, account_number) DO UPDATE SET account_name = excluded.account_name",
        bank_code,
        account_number,
        account_name,
    )


def resolve_name(database: Database, bank_code: str, account_number: str) -> str | None:
    """Return the owner's name: stored for a seeded account, else generated; None when the account does not exist."""
    if bank_code not in BANK_NAMES or not is_account_number(account_number):
        return None
    row = database.one(
        "SELECT account_name FROM accounts WHERE bank_code = ? AND account_number = ?", bank_code, account_number
    )
    if row is not None:
        return str(row["account_name"])
    return name_of_unknown_account(account_number) if account_exists(bank_code, account_number) else None


async def list_banks(request: Request) -> Response:
    """All banks, or with `use_cursor` a page of them and the cursor of the next one."""
    world = world_of(request)

    def work(_fault: object) -> Response:
        listed = BANKS if account_state(world, "gateway_banks") == "all" else []
        views = [_bank_view(position, bank) for position, bank in enumerate(listed, start=1)]
        if request.query_params.get("use_cursor", "").lower() != "true":
            return ok("Banks retrieved", views)
        per_page = read_number(request, "perPage", BANKS_PER_PAGE, BANKS_PER_PAGE)
        start = read_cursor("bank", request.query_params.get("next")) or 0
        following = start + per_page
        meta = {
            "next": write_cursor("bank", following) if following < len(views) else None,
            "previous": write_cursor("bank", max(0, start - per_page)) if start else None,
            "perPage": per_page,
        }
        return ok("Banks retrieved", views[start:following], meta=meta)

    return await respond_with_faults(request, world.faults, "bank_call", (), work, refused)


def _bank_view(position: int, bank: dict[str, str]) -> dict[str, Any]:
    return {
        "id": position,
        **{name: bank[name] for name in ("name", "slug", "code")},
        "longcode": "",
        "gateway": None,
        "pay_with_bank": False,
        "supports_transfer": True,
        "available_for_direct_debit": False,
        "country": "Nigeria",
        "currency": "NGN",
        "type": "nuban",
        "active": True,
        "is_deleted": False,
        "createdAt": "2020-01-01T00:00:00.000Z",
        "updatedAt": "2020-01-01T00:00:00.000Z",
    }


async def resolve_account(request: Request) -> Response:
    world = world_of(request)
    account_number = request.query_params.get("account_number", "")
    bank_code = request.query_params.get("bank_code", "")

    def work(_fault: object) -> Response:
        name = resolve_name(world.database, bank_code, account_number)
        if name is None:
            return refused(422, "Could not resolve account name. Check parameters or try again.", "invalid_bank_code")
        return ok(
            "Account number resolved",
            {"account_number": account_number, "account_name": name, "bank_id": _bank_id(bank_code)},
        )

    def refuse(status: int, message: str) -> Response:
        return refused(422 if status == 400 else status, message)

    return await respond_with_faults(request, world.faults, "resolve_call", (account_number,), work, refuse)


async def show_balance(request: Request) -> Response:
    world = world_of(request)

    def work(_fault: object) -> Response:
        rows = world.database.all("SELECT DISTINCT currency FROM movements WHERE gateway = 'paystack'")
        own, _, amount_minor = account_state(world, "gateway_balance").partition(" ")
        listed = [own, *sorted({row["currency"] for row in rows} - {own, "NGN"})]
        balances = {currency: world.database.balance_minor(currency) for currency in listed}
        if amount_minor:
            balances[own] = int(amount_minor)
        return ok("Balances retrieved", [{"currency": c, "balance": minor} for c, minor in balances.items()])

    return await respond_with_faults(request, world.faults, "balance_call", (), work, refused)


def _bank_id(bank_code: str) -> int:
    return 1 + [bank["code"] for bank in BANKS].index(bank_code)
