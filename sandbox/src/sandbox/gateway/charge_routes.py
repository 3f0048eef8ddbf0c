"""The calls about money coming in: initialize, verify, list."""

from datetime import datetime
from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.bank_transfers import ACCOUNT_NAME, account_number, open_account
from sandbox.gateway.charges import (
    CHARGES,
    Opening,
    find_charge,
    open_transaction,
    read_email,
    read_metadata,
    read_opening,
)
from sandbox.gateway.codes import new_code
from sandbox.gateway.events import AUTHORIZATION_FIELDS, authorization_of, customer_of
from sandbox.gateway.fields import copied, nulls, read_amount_minor, read_currency, read_moment, read_reference, row_id
from sandbox.gateway.paging import respond_page
from sandbox.web import RefusedError, ok, read_json, refused
from sandbox.world import world_of


async def initialize_transaction(request: Request) -> Response:
    world = world_of(request)
    opening = read_opening(await read_json(request))

    def work(_fault: object) -> Response:
        access_code = open_transaction(world.database, opening)
        return ok(
            "Authorization URL created",
            {
                "authorization_url": f"{world.settings.base_url}/pay/{access_code}",
                "access_code": access_code,
                "reference": opening.reference,
            },
        )

    keys = (opening.reference, str(opening.amount_minor))
    return await respond_with_faults(request, world.faults, "initialize_call", keys, work, refused)


async def verify_transaction(request: Request) -> Response:
    reference = request.path_params["reference"]
    return await _respond_charge(request, "reference", reference)


async def show_transaction(request: Request) -> Response:
    """Show a transaction by its id: one of several under a reference."""
    return await _respond_charge(request, "id", row_id(request.path_params["id"]) or 0)


async def _respond_charge(request: Request, column: str, value: str | int) -> Response:
    world = world_of(request)
    charge = find_charge(world.database, column, value)

    def work(_fault: object) -> Response:
        if charge is None or charge["gateway"] != "paystack":
            raise RefusedError(400, "Transaction reference not found.", "transaction_not_found")
        return ok("Verification successful", charge_view(charge))

    keys = (str(value), *([charge["reference"]] if charge is not None else ()))
    return await respond_with_faults(request, world.faults, "verify_call", keys, work, refused)


async def create_charge(request: Request) -> Response:
    """Charge by bank transfer, the one channel of this call that the sandbox has."""
    world = world_of(request)
    body = await read_json(request)
    transfer = body.get("bank_transfer")
    if not isinstance(transfer, dict):
        raise RefusedError(400, "Only charges with bank_transfer are supported")
    ends_at = read_moment(transfer.get("account_expires_at"))
    opening = Opening(
        email=read_email(body),
        amount_minor=read_amount_minor(body.get("amount")),
        currency=read_currency(body),
        reference=read_reference(body, new_code("T", 14)),
        callback_url=None,
        channels=("bank_transfer",),
        metadata=read_metadata(body.get("metadata")),
    )

    def work(_fault: object) -> Response:
        ends = None if ends_at is None else datetime.fromisoformat(ends_at).timestamp()
        return ok("Charge attempted", _pending_view(open_account(world, opening, ends)))

    keys = (opening.reference, str(opening.amount_minor))
    return await respond_with_faults(request, world.faults, "charge_call", keys, work, refused)


async def check_charge(request: Request) -> Response:
    """Return a charge that waits for its transfer with its account, and any other one as verify shows it."""
    world = world_of(request)
    reference = request.path_params["reference"]

    def work(_fault: object) -> Response:
        charge = find_charge(world.database, "reference", reference)
        if charge is None or charge["gateway"] != "paystack":
            raise RefusedError(404, "Transaction reference not found.", "transaction_not_found")
        is_pending = charge["status"] == "abandoned" and charge["account_expires_at"] is not None
        return ok("Reference check successful", (_pending_view if is_pending else charge_view)(charge))

    return await respond_with_faults(request, world.faults, "verify_call", (reference,), work, refused)


def _pending_view(charge: Row) -> dict[str, Any]:
    return {
        **copied(charge, "reference account_expires_at", amount="requested_minor"),
        "status": "pending_bank_transfer",
        "display_text": "Please make a transfer to the account specified",
        "account_name": ACCOUNT_NAME,
        "account_number": account_number(charge),
        "bank": {"slug": "titan-paystack", "name": "Titan", "id": 629},
    }


async def list_transactions(request: Request) -> Response:
    conditions = [("listed.status = ?", request.query_params.get("status")), ("listed.gateway = ?", "paystack")]
    view = listed_charge_view
    return await respond_page(request, "Transactions retrieved", CHARGES, conditions, view, _meta, has_cursor=True)


def _meta(volume_minor: int, _length: int) -> dict[str, Any]:
    return {"total_volume": volume_minor}


def charge_view(charge: Row) -> dict[str, Any]:
    """Return a transaction as verify shows it; `abandoned` means that it is unpaid."""
    return {
        **_charge_fields(charge),
        **nulls("receipt_number plan source fees_breakdown"),
        "authorization": authorization_of(charge) if charge["status"] == "success" else {},
        "transaction_date": charge["created_at"],
        "plan_object": {},
    }


def listed_charge_view(charge: Row) -> dict[str, Any]:
    """Return a transaction as the list shows it."""
    authorization = dict.fromkeys(AUTHORIZATION_FIELDS) | {"reusable": False}
    entry_point = "transaction_initialize" if charge["account_expires_at"] is None else "charge"
    return {
        **_charge_fields(charge),
        "authorization": authorization_of(charge) if charge["status"] == "success" else authorization,
        "plan": {},
        "source": {"source": "merchant_api", "type": "api", "identifier": None, "entry_point": entry_point},
    }


def _charge_fields(charge: Row) -> dict[str, Any]:
    return {
        **copied(charge, "id status reference gateway_response paid_at created_at channel currency"),
        **copied(charge, "", amount="amount_minor", requested_amount="requested_minor", fees="fees_minor"),
        **copied(charge, "", paidAt="paid_at", createdAt="created_at"),
        **nulls("message ip_address log fees_split order_id pos_transaction_data connect"),
        "domain": "test",
        "metadata": msgspec.json.decode(charge["metadata"]) or "",
        "customer": customer_of(charge),
        "split": {},
        "subaccount": {},
    }
