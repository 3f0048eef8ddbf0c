"""The calls about refunds: create, show, list."""

from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.faults import Fault, respond_with_faults
from sandbox.gateway.banks import BANKS
from sandbox.gateway.charges import find_charge
from sandbox.gateway.codes import INTEGRATION
from sandbox.gateway.events import customer_of
from sandbox.gateway.fields import copied, nulls, read_amount_minor, read_text, row_id
from sandbox.gateway.nuban import is_account_number
from sandbox.gateway.paging import respond_page
from sandbox.gateway.refunds import REFUNDS, accept_refund, find_refund, retry_with_account
from sandbox.web import RefusedError, ok, read_json, refused
from sandbox.world import world_of

# The account that a secret key belongs to.
REFUNDED_BY = "merchant@sandbox.example"


async def create_refund(request: Request) -> Response:
    world = world_of(request)
    body = await read_json(request)
    charge = _find_transaction(world.database, body.get("transaction"))
    amount_minor = None if body.get("amount") is None else read_amount_minor(body["amount"])
    merchant_note = read_text(body, "merchant_note", "")
    customer_note = read_text(body, "customer_note", "")

    def work(fault: Fault | None) -> Response:
        refund = accept_refund(world, charge, amount_minor, merchant_note, customer_note, fault)
        world.clearing_wake.set()
        return ok("Refund has been queued for processing", created_refund_view(refund))

    keys = (charge["reference"], str(amount_minor or charge["amount_minor"]))
    return await respond_with_faults(request, world.faults, "refund_call", keys, work)


def _find_transaction(database: Database, given: Any) -> Row:
    """Return a transaction by its reference or by its id, as a number or in digits."""
    charge = None
    if isinstance(given, str) and given:
        charge = find_charge(database, "reference", given)
    if charge is None and (number := row_id(given)) is not None:
        charge = find_charge(database, "id", number)
    if charge is None or charge["gateway"] != "paystack":
        raise RefusedError(404, "Transaction not found", "transaction_not_found")
    return charge


async def show_refund(request: Request) -> Response:
    world = world_of(request)
    number = row_id(request.path_params["id"])

    def work(_fault: object) -> Response:
        refund = None if number is None else find_refund(world.database, number)
        if refund is None or refund["gateway"] != "paystack":
            raise RefusedError(404, "Refund not found", "refund_not_found")
        return ok("Refund retrieved", refund_view(refund))

    return await respond_with_faults(request, world.faults, "verify_call", (request.path_params["id"],), work, refused)


async def list_refunds(request: Request) -> Response:
    """All refunds, or those of one transaction: `reference` or `transaction` (a reference or an id)."""
    database = world_of(request).database
    given = request.query_params.get("reference") or request.query_params.get("transaction")
    transaction_id = None if given is None else _find_transaction(database, given)["id"]
    conditions = [
        ("listed.transaction_id = ?", transaction_id),
        ("listed.currency = ?", request.query_params.get("currency")),
        ("gateway = ?", "paystack"),
    ]
    return await respond_page(request, "Refunds retrieved", REFUNDS, conditions, refund_view, _meta)


def _meta(_volume_minor: int, length: int) -> dict[str, Any]:
    """Return the meta; the length of a page is a text in this list."""
    return {"perPage": str(length), "failedRefundCount": 0}


async def retry_refund(request: Request) -> Response:
    """Return the account of the payer, for a refund that needs attention."""
    world = world_of(request)
    number = row_id(request.path_params["id"])
    refund = None if number is None else find_refund(world.database, number)
    details = (await read_json(request)).get("refund_account_details")
    if refund is None or refund["gateway"] != "paystack":
        raise RefusedError(404, "Refund not found", "refund_not_found")
    if not isinstance(details, dict) or not is_account_number(read_text(details, "account_number")):
        raise RefusedError(422, "Account number is invalid", "invalid_params")
    if row_id(read_text(details, "bank_id")) not in range(1, len(BANKS) + 1):
        raise RefusedError(422, "Bank is invalid", "invalid_params")

    def work(_fault: object) -> Response:
        retried = retry_with_account(world, refund)
        world.clearing_wake.set()
        return ok("Refund retried and has been queued for processing", retried_refund_view(retried))

    return await respond_with_faults(request, world.faults, "refund_call", (request.path_params["id"],), work, refused)


def retried_refund_view(refund: Row) -> dict[str, Any]:
    """Return a refund as its retry shows it."""
    return {
        **_refund_fields(refund),
        **copied(refund, "channel", transaction="transaction_id", expected_at="updated_at"),
        **nulls("dispute settlement refunded_at bank_reference customer reversed_at session_id"),
        "fully_deducted": False,
        "reason": "PROCESSING",
        "initiated_by": REFUNDED_BY,
    }


def _refund_fields(refund: Row) -> dict[str, Any]:
    return {
        **copied(
            refund, "id status currency merchant_note customer_note", amount="amount_minor", createdAt="created_at"
        ),
        "integration": INTEGRATION,
        "domain": "test",
        "deducted_amount": refund["amount_minor"] if refund["status"] == "processed" else 0,
        "refunded_by": REFUNDED_BY,
    }


def created_refund_view(refund: Row) -> dict[str, Any]:
    """Return a refund as the call that made it shows it, with the whole transaction."""
    return {
        **_refund_fields(refund),
        "transaction": {
            **copied(refund, "paid_at channel currency", id="transaction_id", reference="transaction_reference"),
            **copied(refund, "", amount="paid_minor", paidAt="paid_at"),
            **nulls("order_id pos_transaction_data source fees_breakdown"),
            "domain": "test",
            "authorization": nulls("exp_month exp_year account_name"),
            "customer": {"international_format_phone": None},
            "plan": {},
            "subaccount": {"currency": None},
            "split": {},
        },
        "channel": None,
        **copied(refund, "", expected_at="created_at", updatedAt="updated_at"),
        "fully_deducted": refund["status"] == "processed",
    }


def refund_view(refund: Row) -> dict[str, Any]:
    """Return a refund as fetch and list show it, with the transaction's id."""
    processed = refund["status"] == "processed"
    return {
        **_refund_fields(refund),
        **copied(refund, "transaction_reference", transaction="transaction_id", transaction_amount="paid_minor"),
        **nulls("dispute settlement session_id"),
        "refunded_at": refund["updated_at"] if processed else None,
        "fully_deducted": int(processed),
        "bank_reference": refund["refund_reference"] if processed else None,
        # The reason is the state in capitals until the refund fails.
        "reason": refund["failure"] if refund["status"] == "failed" else refund["status"].upper(),
        "customer": customer_of(refund) | {"first_name": "", "last_name": "", "international_format_phone": ""},
        "refund_type": "full" if refund["amount_minor"] == refund["paid_minor"] else "partial",
        "initiated_by": REFUNDED_BY,
        "refund_channel": "api",
        "collect_account_number": refund["status"] == "needs-attention",
    }
