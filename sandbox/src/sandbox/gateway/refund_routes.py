"""The calls about refunds: create, show, list."""

from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.faults import Fault, respond_with_faults
from sandbox.gateway.charges import find_charge
from sandbox.gateway.codes import INTEGRATION
from sandbox.gateway.fields import read_amount_minor, read_text, row_id
from sandbox.gateway.paging import respond_page
from sandbox.gateway.refunds import REFUNDS, accept_refund, find_refund
from sandbox.web import RefusedError, ok, read_json, refused
from sandbox.world import world_of


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
        return ok("Refund has been queued for processing", refund_view(refund))

    keys = (charge["reference"], str(amount_minor or charge["amount_minor"]))
    return await respond_with_faults(request, world.faults, "refund_call", keys, work)


def _find_transaction(database: Database, given: Any) -> Row:
    """A transaction by its reference or by its id, as a number or in digits."""
    charge = None
    if isinstance(given, str) and given:
        charge = find_charge(database, "reference", given)
    if charge is None and (number := row_id(given)) is not None:
        charge = find_charge(database, "id", number)
    if charge is None:
        raise RefusedError(404, "Transaction not found")
    return charge


async def show_refund(request: Request) -> Response:
    world = world_of(request)
    number = row_id(request.path_params["id"])

    def work(_fault: object) -> Response:
        refund = None if number is None else find_refund(world.database, number)
        if refund is None:
            raise RefusedError(404, "Refund not found")
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
    ]
    return await respond_page(request, "Refunds retrieved", REFUNDS, conditions, refund_view)


def refund_view(refund: Row) -> dict[str, Any]:
    processed = refund["status"] == "processed"
    return {
        "id": refund["id"],
        "integration": INTEGRATION,
        "domain": "test",
        "status": refund["status"],
        "transaction": refund["transaction_id"],
        "transaction_reference": refund["transaction_reference"],
        "refund_reference": refund["refund_reference"],
        "amount": refund["amount_minor"],
        "deducted_amount": refund["amount_minor"] if processed else 0,
        "fully_deducted": processed,
        "currency": refund["currency"],
        "channel": refund["channel"],
        "merchant_note": refund["merchant_note"],
        "customer_note": refund["customer_note"],
        "reason": refund["failure"] if refund["status"] == "failed" else None,
        "customer": {"id": refund["customer_id"], "email": refund["email"]},
        "refunded_at": refund["updated_at"] if processed else None,
        "createdAt": refund["created_at"],
        "updatedAt": refund["updated_at"],
    }
