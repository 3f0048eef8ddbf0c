"""The calls about money coming in: hosted payment, verification, list, refunds, chargebacks."""

import time
from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import Fault, respond_with_faults
from sandbox.flutterwave.paging import respond_page
from sandbox.flutterwave.views import chargeback_view, flw_ref, listed_view, refund_view, transaction_view
from sandbox.flutterwave.wire import GATEWAY, failed, initiated, naira_text, read_amount, read_fields, succeeded
from sandbox.gateway.bank_transfers import ACCOUNT_NAME, account_number, expiry_seconds, open_account
from sandbox.gateway.charges import CHANNELS, CHARGES, EMAIL, Opening, find_charge, open_transaction
from sandbox.gateway.disputes import DISPUTES
from sandbox.gateway.fields import read_currency, read_text, row_id
from sandbox.gateway.refunds import REFUNDS, accept_refund, find_refund
from sandbox.web import RefusedError
from sandbox.world import World, world_of

# The names of `payment_options` for the channels of the checkout page.
OPTIONS = {"card": "card", "banktransfer": "bank_transfer", "ussd": "ussd"}
NOT_FOUND = "No transaction was found for this id"


async def create_payment(request: Request) -> Response:
    world = world_of(request)
    opening = _read_opening(await read_fields(request))

    def work(_fault: object) -> Response:
        access_code = open_transaction(world.database, opening, GATEWAY)
        return succeeded("Hosted Link", {"link": f"{world.settings.base_url}/pay/{access_code}"})

    keys = (opening.reference, str(opening.amount_minor))
    return await respond_with_faults(request, world.faults, "initialize_call", keys, work, failed)


def _read_opening(body: dict[str, Any]) -> Opening:
    customer = body.get("customer")
    email = read_text(customer if isinstance(customer, dict) else {}, "email")
    if not EMAIL.fullmatch(email):
        raise RefusedError(400, "customer.email must be a valid email")
    options = [OPTIONS.get(name.strip()) for name in read_text(body, "payment_options", "card").split(",")]
    given = tuple(channel for channel in CHANNELS if channel in options)
    return Opening(
        email=email,
        amount_minor=read_amount(body.get("amount")),
        currency=read_currency(body),
        reference=read_text(body, "tx_ref"),
        callback_url=read_text(body, "redirect_url"),
        channels=given if "payment_options" in body and given else CHANNELS,
        metadata=msgspec.json.encode(body.get("meta")).decode(),
    )


async def create_charge(request: Request) -> Response:
    """Charge by bank transfer: an account that exists for `bank_transfer_options.expires` seconds."""
    world = world_of(request)
    if request.query_params.get("type") != "bank_transfer":
        raise RefusedError(400, "Only charges of the type bank_transfer are supported")
    body = await read_fields(request)
    options = body.get("bank_transfer_options")
    seconds = options.get("expires") if isinstance(options, dict) else None
    if seconds is not None and not (isinstance(seconds, int) and seconds > 0):
        raise RefusedError(400, "bank_transfer_options.expires is invalid")
    opening = Opening(
        email=read_text(body, "email"),
        amount_minor=read_amount(body.get("amount")),
        currency=read_currency(body),
        reference=read_text(body, "tx_ref"),
        callback_url=None,
        channels=("bank_transfer",),
        metadata=msgspec.json.encode(body.get("meta")).decode(),
    )

    def work(_fault: object) -> Response:
        charge = open_account(world, opening, None if seconds is None else time.time() + seconds, GATEWAY)
        authorization = {
            "transfer_reference": flw_ref(charge["id"], charge["access_code"]),
            "transfer_account": account_number(charge),
            "transfer_bank": "WEMA BANK",
            "account_expiration": int(expiry_seconds(charge) * 1000),
            "transfer_note": f"Please make a bank transfer to {ACCOUNT_NAME}",
            "transfer_amount": naira_text(charge["requested_minor"]),
            "mode": "banktransfer",
        }
        return initiated("Charge initiated", {"authorization": authorization})

    keys = (opening.reference, str(opening.amount_minor))
    return await respond_with_faults(request, world.faults, "charge_call", keys, work, failed)


async def verify_by_reference(request: Request) -> Response:
    return await _verify(request, "reference", request.query_params.get("tx_ref", ""))


async def verify_by_id(request: Request) -> Response:
    return await _verify(request, "id", row_id(request.path_params["id"]))


async def _verify(request: Request, column: str, value: str | int | None) -> Response:
    world = world_of(request)

    def work(_fault: object) -> Response:
        return succeeded("Transaction fetched successfully", transaction_view(_attempted(world, column, value)))

    return await respond_with_faults(request, world.faults, "verify_call", (str(value),), work, failed)


def _attempted(world: World, column: str, value: str | int | None) -> Row:
    """Return a transaction of this gateway. There is none before the customer tries to pay."""
    charge = None if value is None else find_charge(world.database, column, value)
    if charge is None or charge["gateway"] != GATEWAY or charge["status"] == "abandoned":
        raise RefusedError(400, NOT_FOUND)
    return charge


async def list_transactions(request: Request) -> Response:
    status = request.query_params.get("status")
    conditions = [
        ("listed.status <> ?", "abandoned"),
        ("listed.reference = ?", request.query_params.get("tx_ref")),
        ("listed.status = ?", {"successful": "success", None: None}.get(status, "failed")),
    ]
    return await respond_page(request, "Transactions fetched", CHARGES, conditions, listed_view)


async def create_refund(request: Request) -> Response:
    """Return a refund of everything that is left when no amount is given."""
    world = world_of(request)
    charge = _attempted(world, "id", row_id(request.path_params["id"]))
    body = await read_fields(request)
    amount_minor = None if body.get("amount") is None else read_amount(body["amount"])
    comments = read_text(body, "comments", "")

    def work(fault: Fault | None) -> Response:
        refund = accept_refund(world, charge, amount_minor, comments, "", fault)
        world.clearing_wake.set()
        return succeeded("Transaction refund initiated", refund_view(refund))

    keys = (charge["reference"], str(amount_minor or charge["amount_minor"]))
    return await respond_with_faults(request, world.faults, "refund_call", keys, work)


async def show_refund(request: Request) -> Response:
    number = row_id(request.path_params["id"])
    refund = None if number is None else find_refund(world_of(request).database, number)
    if refund is None or refund["gateway"] != GATEWAY:
        raise RefusedError(404, "Refund not found")
    return succeeded("Refund fetched", refund_view(refund))


async def list_refunds(request: Request) -> Response:
    """`id` is that of the transaction."""
    given = request.query_params.get("id")
    transaction_id = None if given is None else row_id(given)
    if given is not None and transaction_id is None:
        raise RefusedError(400, "id must be a number")
    conditions = [("listed.transaction_id = ?", transaction_id)]
    return await respond_page(request, "Refunds fetched", REFUNDS, conditions, refund_view)


async def list_chargebacks(request: Request) -> Response:
    """`flw_ref` is that of the transaction. No call returns a chargeback by its id."""
    given = request.query_params.get("flw_ref")
    transaction_id = None if given is None else row_id(given.rpartition("-")[2]) or 0
    status = request.query_params.get("status")
    conditions = [
        ("listed.transaction_id = ?", transaction_id),
        ("listed.status = ?", "awaiting-merchant-feedback" if status == "initiated" else status),
    ]
    return await respond_page(request, "Chargebacks fetched", DISPUTES, conditions, chargeback_view)
