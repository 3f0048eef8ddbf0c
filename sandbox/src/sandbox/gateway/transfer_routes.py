"""The calls about money going out: transfer, finalize, verify, list."""

import re
from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import Fault, respond_with_faults
from sandbox.gateway.codes import new_code
from sandbox.gateway.events import bank_response, recipient_of, transfer_fields
from sandbox.gateway.fields import read_amount_minor, read_currency, read_text
from sandbox.gateway.paging import respond_page
from sandbox.gateway.transfers import (
    TRANSFERS,
    TransferOrder,
    accept_transfer,
    charged_fee_minor,
    find_transfer,
    plan_of,
    settle_next,
)
from sandbox.web import RefusedError, ok, read_json, refused
from sandbox.world import World, world_of

# The form that the gateway documents for a transfer; that of a charge is wider.
REFERENCE = re.compile(r"[a-z0-9_-]{16,50}", re.ASCII)
MESSAGES = {
    "otp": "Transfer requires OTP to continue",
    "pending": "Transfer has been queued",
    "success": "Transfer has been queued",
    "failed": "Transfer has been queued",
}


async def initiate_transfer(request: Request) -> Response:
    world = world_of(request)
    order = _read_order(world, await read_json(request))

    def work(fault: Fault | None) -> Response:
        transfer = accept_transfer(world, order, plan_of(fault))
        world.clearing_wake.set()
        return ok(MESSAGES[transfer["status"]], _accepted_view(transfer))

    keys = (order.reference, order.recipient["account_number"], str(order.amount_minor))
    return await respond_with_faults(request, world.faults, "transfer_call", keys, work)


def _read_order(world: World, body: dict[str, Any]) -> TransferOrder:
    """Raise RefusedError 400, and 404 for an unknown recipient."""
    if read_text(body, "source") != "balance":
        raise RefusedError(400, "Source must be balance")
    amount_minor = read_amount_minor(body.get("amount"))
    if amount_minor < world.switches.transfer_minimum_minor:
        raise RefusedError(400, "Amount is below the minimum of a transfer", "invalid_params")
    reference = read_text(body, "reference", new_code(length=16))
    if not REFERENCE.fullmatch(reference):
        raise RefusedError(
            400, "Reference must be 16 to 50 lowercase letters, digits, dashes and underscores", "invalid_params"
        )
    recipient = world.database.one("SELECT * FROM recipients WHERE recipient_code = ?", read_text(body, "recipient"))
    if recipient is None:
        raise RefusedError(404, "Recipient specified is invalid")
    return TransferOrder(
        amount_minor=amount_minor,
        currency=read_currency(body),
        recipient=recipient,
        reference=reference,
        reason=read_text(body, "reason", ""),
    )


async def finalize_transfer(request: Request) -> Response:
    """Return the second step of a transfer with a one-time password; any password of six digits is valid."""
    world = world_of(request)
    body = await read_json(request)
    transfer = find_transfer(world.database, "transfer_code", read_text(body, "transfer_code"))
    if transfer is None or transfer["status"] != "otp":
        raise RefusedError(400, "Transfer is not currently awaiting OTP")
    one_time_password = read_text(body, "otp")
    if len(one_time_password) != 6 or not one_time_password.isdigit():
        raise RefusedError(400, "OTP provided is invalid")
    settle_next(world, transfer["id"])
    settled = find_transfer(world.database, "id", transfer["id"])
    if settled is None:
        raise LookupError(transfer["id"])
    world.clearing_wake.set()
    return ok("Transfer has been queued", _accepted_view(settled))


async def verify_transfer(request: Request) -> Response:
    world = world_of(request)
    reference = request.path_params["reference"]

    def work(_fault: object) -> Response:
        transfer = find_transfer(world.database, "reference", reference)
        if transfer is None or transfer["gateway"] != "paystack":
            raise RefusedError(404, "Transfer not found")
        return ok("Transfer retrieved", transfer_view(transfer))

    return await respond_with_faults(request, world.faults, "verify_call", (reference,), work, refused)


async def list_transfers(request: Request) -> Response:
    conditions = [("listed.status = ?", request.query_params.get("status")), ("listed.gateway = ?", "paystack")]
    return await respond_page(request, "Transfers retrieved", TRANSFERS, conditions, transfer_view, has_cursor=True)


def _accepted_view(transfer: Row) -> dict[str, Any]:
    """Return the response of the call that moves money: `recipient` is a number here, an object everywhere else."""
    return {
        "transfersessionid": [],
        "transfertrials": [],
        **transfer_fields(transfer),
        "request": transfer["id"],
        "recipient": transfer["recipient_id"],
    }


def transfer_view(transfer: Row) -> dict[str, Any]:
    """Return a transfer. `reason` is the merchant's narration; `gateway_response` is the bank's response."""
    return {
        **transfer_fields(transfer),
        "request": transfer["id"],
        "recipient": recipient_of(transfer),
        "session": {"provider": "nip", "id": f"{transfer['id']:030d}"},
        "fee_charged": charged_fee_minor(transfer),
        "fees_breakdown": None,
        "gateway_response": bank_response(transfer),
    }
