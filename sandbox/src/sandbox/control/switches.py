"""Changes of faults, settings, and the states of single transfers and refunds."""

import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.clock import moment_text
from sandbox.faults import parse_rules
from sandbox.gateway.bank_transfers import receive_transfer
from sandbox.gateway.charge_routes import charge_view
from sandbox.gateway.charges import find_charge
from sandbox.gateway.checkout import end_checkout
from sandbox.gateway.disputes import DISPUTE_ACTIONS, find_dispute, move_dispute, open_dispute
from sandbox.gateway.fields import read_amount_minor, read_currency, read_moment, read_text, row_id
from sandbox.gateway.refund_routes import refund_view
from sandbox.gateway.refunds import accept_refund, find_refund, request_account, settle_refund
from sandbox.gateway.settlements import settle_balance, settlement_view
from sandbox.gateway.transfer_routes import transfer_view
from sandbox.gateway.transfers import FAILURE_DEFAULT, REVERSAL_DEFAULT, find_transfer, move_transfer
from sandbox.switches import change_switches
from sandbox.web import JsonResponse, RefusedError, read_body, read_json
from sandbox.world import world_of

SECONDS_PER_HOUR = 3600
# The note of a refund that the merchant's staff make by hand.
DASHBOARD_NOTE = "Refunded in the dashboard"


async def show_faults(request: Request) -> Response:
    """Return the rules by the kind of call or webhook that they apply to."""
    return JsonResponse(world_of(request).faults.rules)


async def put_faults(request: Request) -> Response:
    """Replace the rules of the kinds named; `null` removes a kind's. The sandbox's README lists kinds and effects."""
    faults = world_of(request).faults
    faults.replace(parse_rules(await read_json(request)))
    return JsonResponse(faults.rules)


async def delete_faults(request: Request) -> Response:
    """Every call and webhook works again."""
    faults = world_of(request).faults
    faults.reset()
    return JsonResponse(faults.rules)


async def show_settings(request: Request) -> Response:
    """How the providers behave when nothing fails. The README of the sandbox explains each."""
    return JsonResponse(world_of(request).switches)


async def put_settings(request: Request) -> Response:
    """Change the named settings; the others stay."""
    world = world_of(request)
    world.switches = change_switches(world.database, world.switches, await read_json(request))
    return JsonResponse(world.switches)


async def put_gateway_keys(request: Request) -> Response:
    """`{"keys": [...]}` and `{"flutterwave_keys": [...]}`, as on the page where a merchant makes and revokes secret
    keys.

    All of them are accepted from now on, until the next start; the first of `keys` signs the webhooks.
    """
    world, body = world_of(request), await read_json(request)
    if not body or body.keys() - {"keys", "flutterwave_keys"}:
        raise RefusedError(400, "name keys or flutterwave_keys")
    for name, keys in body.items():
        if not isinstance(keys, list) or not keys or not all(isinstance(key, str) and key.strip() for key in keys):
            raise RefusedError(400, f"{name} must be a list of at least one secret key")
    if "keys" in body:
        world.gateway_keys = tuple(body["keys"])
        world.webhook_sender.gateway_key = world.gateway_keys[0]
    world.flutterwave_keys = tuple(body.get("flutterwave_keys", world.flutterwave_keys))
    return JsonResponse({"accepted": len(world.gateway_keys)})


# The action in the path, its resulting state, and the bank's default reason.
TRANSFER_ACTIONS: dict[str, tuple[str, str | None]] = {
    "succeed": ("success", None),
    "fail": ("failed", FAILURE_DEFAULT),
    "reverse": ("reversed", REVERSAL_DEFAULT),
}


async def change_transfer(request: Request) -> Response:
    """`succeed`, `fail` or `reverse` one transfer, with the bank's optional `reason`. A forbidden transition is 409."""
    world = world_of(request)
    action = TRANSFER_ACTIONS.get(request.path_params["act"])
    transfer = find_transfer(world.database, "reference", request.path_params["reference"])
    if action is None or transfer is None:
        raise RefusedError(404, "No such transfer or act")
    status, default_reason = action
    reason = read_text(await _optional_json(request), "reason", default_reason or "") or None
    return JsonResponse(transfer_view(move_transfer(world, transfer["id"], status, reason)))


async def change_refund(request: Request) -> Response:
    """`process` pays it out, `fail` ends it with a `reason`, `attention` waits for the payer's account."""
    world = world_of(request)
    action = request.path_params["act"]
    number = row_id(request.path_params["id"])
    refund = None if number is None else find_refund(world.database, number)
    if action not in ("process", "fail", "attention") or refund is None:
        raise RefusedError(404, "No such refund or act")
    if action == "attention":
        return JsonResponse(refund_view(request_account(world, refund["id"])))
    reason = read_text(await _optional_json(request), "reason", "Refund declined by the bank")
    return JsonResponse(refund_view(settle_refund(world, refund["id"], reason if action == "fail" else None)))


async def change_charge(request: Request) -> Response:
    """`pay` and `decline` take the fields of the payment page; `transfer` pays the `amount` in kobo into the account of
    a charge by bank transfer, also again and after its end; `dispute` takes the `amount` in kobo and `due_at`;
    `refund`, made in the gateway's dashboard, takes the `amount`.
    """
    world = world_of(request)
    charge = find_charge(world.database, "reference", request.path_params["reference"])
    if charge is None:
        raise RefusedError(404, "No such charge")
    action, body = request.path_params["act"], await _optional_json(request)
    if action not in ("dispute", "refund", "transfer"):
        return JsonResponse(charge_view(end_checkout(world, charge["access_code"], action, body)))
    amount_minor = read_amount_minor(body["amount"]) if "amount" in body else None
    if action == "transfer":
        return JsonResponse(charge_view(receive_transfer(world, charge, amount_minor)))
    if action == "refund":
        refund = accept_refund(world, charge, amount_minor, DASHBOARD_NOTE, "", None)
        world.clearing_wake.set()
        return JsonResponse(refund_view(refund))
    by_default = moment_text(time.time() + world.switches.dispute_hours * SECONDS_PER_HOUR)
    due_at = read_moment(body["due_at"]) if "due_at" in body else by_default
    return JsonResponse(dict(open_dispute(world, charge, amount_minor, due_at)))


async def change_dispute(request: Request) -> Response:
    """`remind` sends a reminder; the others decide: `expire` is lost without a response, `overturn` is lost, and won
    after all, `revoke` is won, and lost after all.
    """
    world = world_of(request)
    action = request.path_params["act"]
    number = row_id(request.path_params["id"])
    dispute = None if number is None else find_dispute(world.database, number)
    if action not in DISPUTE_ACTIONS or dispute is None:
        raise RefusedError(404, "No such dispute or act")
    return JsonResponse(dict(move_dispute(world, dispute, action)))


async def show_evidence(request: Request) -> Response:
    """Return what the merchant sent, with the names and sizes of the uploaded files."""
    database = world_of(request).database
    number = row_id(request.path_params["id"])
    evidence = database.all("SELECT content FROM dispute_evidence WHERE dispute_id = ? ORDER BY id", number)
    files = database.all(
        "SELECT file_name, length(content) AS bytes FROM dispute_files WHERE dispute_id = ? AND content IS NOT NULL",
        number,
    )
    listed = [msgspec.json.decode(row["content"]) for row in evidence]
    return JsonResponse({"evidence": listed, "files": [dict(row) for row in files]})


async def make_settlement(request: Request) -> Response:
    """Automatic settlement of one gateway runs once.

    Optional: `currency`, `deductions` in kobo, `gateway` (`flutterwave`), and its `destination` (`autowallet`, else the
    bank).
    """
    world = world_of(request)
    body = await _optional_json(request)
    deductions_minor = read_amount_minor(body["deductions"]) if body.get("deductions") else 0
    gateway, destination = read_text(body, "gateway", "paystack"), read_text(body, "destination", "account")
    settled = settle_balance(world, read_currency(body), deductions_minor, gateway, destination)
    return JsonResponse(settlement_view(settled))


async def _optional_json(request: Request) -> dict[str, Any]:
    body = await read_body(request)
    if not body:
        return {}
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        raise RefusedError(400, "Request body must be a JSON object") from None
