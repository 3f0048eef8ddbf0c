"""The calls about money going out: beneficiaries, transfers, banks, accounts, balance."""

from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import Fault, respond_with_faults
from sandbox.flutterwave.paging import page_of, respond_page
from sandbox.flutterwave.views import transfer_view
from sandbox.flutterwave.wire import GATEWAY, failed, naira, read_amount, read_fields, succeeded
from sandbox.gateway.banks import BANKS, bank_name, resolve_name
from sandbox.gateway.disputes import DISPUTES
from sandbox.gateway.fields import read_currency, read_text, row_id
from sandbox.gateway.recipients import save_recipient
from sandbox.gateway.transfers import TRANSFERS, TransferOrder, accept_transfer, find_transfer, plan_of
from sandbox.sinks.accounts import account_state
from sandbox.web import RefusedError
from sandbox.world import World, world_of


async def create_beneficiary(request: Request) -> Response:
    """Create a beneficiary: the same account at the same bank is the same one."""
    body = await read_fields(request)
    recipient = save_recipient(
        world_of(request).database,
        read_text(body, "beneficiary_name"),
        read_text(body, "account_number"),
        read_text(body, "account_bank"),
        "NGN",
    )
    return succeeded("Beneficiary added successfully", _beneficiary_view(recipient))


def _beneficiary_view(recipient: Row) -> dict[str, Any]:
    return {
        "id": recipient["id"],
        "account_number": recipient["account_number"],
        "bank_code": recipient["bank_code"],
        "full_name": recipient["name"],
        "created_at": recipient["created_at"],
        "bank_name": bank_name(recipient["bank_code"]),
    }


async def create_transfer(request: Request) -> Response:
    world = world_of(request)
    order = _read_order(world, await read_fields(request))

    def work(fault: Fault | None) -> Response:
        transfer = accept_transfer(world, order, plan_of(fault), GATEWAY)
        world.clearing_wake.set()
        return succeeded("Transfer Queued Successfully", transfer_view(transfer))

    keys = (order.reference, order.recipient["account_number"], str(order.amount_minor))
    return await respond_with_faults(request, world.faults, "transfer_call", keys, work)


def _read_order(world: World, body: dict[str, Any]) -> TransferOrder:
    """`beneficiary` replaces `account_bank` and `account_number`."""
    number = row_id(body.get("beneficiary"))
    recipient = None if number is None else world.database.one("SELECT * FROM recipients WHERE id = ?", number)
    if recipient is None:
        raise RefusedError(400, "Beneficiary not found")
    return TransferOrder(
        amount_minor=read_amount(body.get("amount")),
        currency=read_currency(body),
        recipient=recipient,
        reference=read_text(body, "reference"),
        reason=read_text(body, "narration", ""),
    )


async def show_transfer(request: Request) -> Response:
    number = row_id(request.path_params["id"])
    transfer = None if number is None else find_transfer(world_of(request).database, "id", number)
    if transfer is None or transfer["gateway"] != GATEWAY:
        raise RefusedError(404, "Transfer not found")
    return succeeded("Transfer fetched", transfer_view(transfer))


async def list_transfers(request: Request) -> Response:
    """List transfers: a list of one reference is this gateway's verification of a transfer."""
    world = world_of(request)
    reference = request.query_params.get("reference")
    conditions = [("listed.reference = ?", reference)]
    if reference is None:
        return await respond_page(request, "Transfers fetched", TRANSFERS, conditions, transfer_view)

    def work(_fault: object) -> Response:
        return page_of(request, "Transfers fetched", TRANSFERS, conditions, transfer_view)

    return await respond_with_faults(request, world.faults, "verify_call", (reference,), work, failed)


async def list_banks(request: Request) -> Response:
    listed = BANKS if account_state(world_of(request), "flutterwave_banks") == "all" else []
    views = [{"id": number, "code": bank["code"], "name": bank["name"]} for number, bank in enumerate(listed, start=1)]
    return succeeded("Banks fetched successfully", views)


async def resolve_account(request: Request) -> Response:
    world = world_of(request)
    body = await read_fields(request)
    account_number, bank_code = read_text(body, "account_number"), read_text(body, "account_bank")

    def work(_fault: object) -> Response:
        name = resolve_name(world.database, bank_code, account_number)
        if name is None:
            raise RefusedError(400, "Sorry, recipient account could not be validated. Please try again")
        return succeeded("Account details fetched", {"account_number": account_number, "account_name": name})

    return await respond_with_faults(request, world.faults, "resolve_call", (account_number,), work, failed)


async def show_balance(request: Request) -> Response:
    """Return the balance. The ledger balance includes the amount of open chargebacks, the available one does not."""
    world = world_of(request)
    currency = request.path_params["currency"]

    def work(_fault: object) -> Response:
        state = account_state(world, "flutterwave_balance")
        if state in {"400", "500"}:
            return failed(int(state), "Wallet balance could not be fetched")
        held = world.database.one(
            f"SELECT coalesce(sum(listed.amount_minor), 0) AS held FROM {DISPUTES}"
            " WHERE listed.status <> 'resolved' AND gateway = ? AND currency = ?",
            GATEWAY,
            currency,
        )
        balance_minor = 0 if state == "0" else world.database.balance_minor(currency, GATEWAY)
        available_minor = balance_minor - (held["held"] if held is not None else 0)
        balances = {"available_balance": naira(available_minor), "ledger_balance": naira(balance_minor)}
        return succeeded("Wallet balance fetched", {"currency": currency, **balances})

    return await respond_with_faults(request, world.faults, "balance_call", (), work, failed)
