"""Charges by bank transfer: an account for each charge, and the transfers that payers make into it."""

import time
from datetime import datetime
from sqlite3 import Row

from sandbox.clock import moment_text, now_text
from sandbox.database import Database
from sandbox.gateway.charges import Opening, find_charge, open_transaction, pay
from sandbox.gateway.codes import new_code
from sandbox.web import RefusedError
from sandbox.world import World

ACCOUNT_NAME = "CAMPUS CHECKOUT"
SECONDS_MIN = 15 * 60
SECONDS_MAX = 8 * 3600


def open_account(world: World, opening: Opening, expires_at: float | None, gateway: str = "paystack") -> Row:
    """Open a charge with an account of its own until `expires_at`, in epoch seconds, within the gateway's bounds.

    Raises RefusedError 400 for a used reference.
    """
    now = time.time()
    seconds = SECONDS_MAX if expires_at is None else min(max(expires_at - now, SECONDS_MIN), SECONDS_MAX)
    ends_at = moment_text(now + (world.switches.transfer_account_seconds or seconds))
    access_code = open_transaction(world.database, opening, gateway, ends_at)
    return _found(world.database, access_code)


def account_number(charge: Row) -> str:
    """Return the ten digits of the charge's account."""
    return f"9{charge['paid_into'] or charge['id']:09d}"


def expiry_seconds(charge: Row) -> float:
    """Return the end of the account in epoch seconds."""
    return datetime.fromisoformat(charge["account_expires_at"]).timestamp()


def receive_transfer(world: World, charge: Row, amount_minor: int | None) -> Row:
    """Pay into the charge's account, of the requested amount by default; a further transfer is a charge of its own.

    The bank accepts a transfer after the account's end too. Raises RefusedError 400 for a charge without an account.
    """
    if charge["account_expires_at"] is None:
        raise RefusedError(400, "The transaction has no account to transfer to")
    access_code = charge["access_code"]
    if charge["status"] == "success":
        access_code = _copy(world.database, charge)
    return pay(world, access_code, amount_minor, None, None)


def _copy(database: Database, charge: Row) -> str:
    """Store an unpaid transaction with the same reference and metadata; return its access code."""
    access_code = new_code()
    copied = (
        "reference, customer_id, requested_minor, requested_currency, amount_minor, currency, channel, channels,"
        " metadata, gateway, account_expires_at"
    )
    database.run(
        f"INSERT INTO transactions ({copied}, access_code, status, gateway_response, created_at, paid_into)"
        f" SELECT {copied}, ?, 'abandoned', 'The transaction was not completed', ?, id FROM transactions WHERE id = ?",
        access_code,
        now_text(),
        charge["id"],
    )
    return access_code


def _found(database: Database, access_code: str) -> Row:
    charge = find_charge(database, "access_code", access_code)
    if charge is None:
        raise LookupError(access_code)
    return charge
