"""Settlements: the gateway moves a part of the merchant's balance to the merchant's bank account."""

from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.clock import now_text
from sandbox.database import InsufficientBalance
from sandbox.gateway.charge_routes import charge_view
from sandbox.gateway.charges import CHARGES
from sandbox.gateway.codes import INTEGRATION
from sandbox.gateway.fields import row_id
from sandbox.gateway.paging import respond_page
from sandbox.web import RefusedError
from sandbox.world import World, world_of

_OF_PAYSTACK = "SELECT 1 FROM settlements WHERE id = ? AND gateway = 'paystack'"
# The amount is what a list sums.
SETTLEMENTS = "(SELECT *, processed_minor - fees_minor - deductions_minor AS amount_minor FROM settlements) AS listed"


# The destination of a settlement that stays at the gateway, as money that transfers use.
WALLET = "autowallet"


def settle_balance(
    world: World, currency: str, deductions_minor: int, gateway: str = "paystack", destination: str = "account"
) -> Row:
    """Settles every paid transaction of the currency at a gateway that is not settled yet, less fees and deductions.

    The balance is debited unless the destination is WALLET. Raises RefusedError 409 without such a transaction, or when
    the balance does not cover it.
    """
    database = world.database
    found = database.one(
        "SELECT coalesce(sum(amount_minor), 0) AS processed, coalesce(sum(fees_minor), 0) AS fees FROM transactions"
        " WHERE status = 'success' AND settlement_id IS NULL AND gateway = ? AND currency = ?",
        gateway,
        currency,
    )
    processed_minor, fees_minor = (0, 0) if found is None else (found["processed"], found["fees"])
    effective_minor = processed_minor - fees_minor - deductions_minor
    if effective_minor <= 0:
        raise RefusedError(409, "There is nothing to settle")
    try:
        with database.transaction():
            settlement_id = database.run(
                "INSERT INTO settlements (status, currency, processed_minor, fees_minor, deductions_minor, "
                "created_at, updated_at,"
                " gateway, destination) VALUES ('success', ?, ?, ?, ?, ?, ?, ?, ?)",
                currency,
                processed_minor,
                fees_minor,
                deductions_minor,
                now_text(),
                now_text(),
                gateway,
                destination,
            )
            database.run(
                "UPDATE transactions SET settlement_id = ?"
                " WHERE status = 'success' AND settlement_id IS NULL AND gateway = ? AND currency = ?",
                settlement_id,
                gateway,
                currency,
            )
            if destination != WALLET:
                database.post("settlement", str(settlement_id), -effective_minor, currency, gateway)
    except InsufficientBalance:
        raise RefusedError(409, "The balance does not cover the settlement") from None
    settled = database.one("SELECT * FROM settlements WHERE id = ?", settlement_id)
    if settled is None:
        raise LookupError(settlement_id)
    return settled


async def list_settlements(request: Request) -> Response:
    conditions = [("gateway = ?", "paystack"), ("listed.status = ?", request.query_params.get("status"))]
    return await respond_page(request, "Settlements retrieved", SETTLEMENTS, conditions, settlement_view)


async def list_settlement_transactions(request: Request) -> Response:
    number = row_id(request.path_params["id"])
    if number is None or world_of(request).database.one(_OF_PAYSTACK, number) is None:
        raise RefusedError(404, "Settlement not found")
    conditions = [("listed.settlement_id = ?", number)]
    return await respond_page(request, "Transactions retrieved", CHARGES, conditions, charge_view)


def settlement_view(settlement: Row) -> dict[str, Any]:
    total_minor = settlement["processed_minor"] - settlement["fees_minor"]
    deductions_minor = settlement["deductions_minor"]
    return {
        "id": settlement["id"],
        "domain": "test",
        "status": settlement["status"],
        "currency": settlement["currency"],
        "integration": INTEGRATION,
        "total_amount": total_minor,
        "effective_amount": total_minor - deductions_minor,
        "total_fees": settlement["fees_minor"],
        "total_processed": settlement["processed_minor"],
        "deductions": deductions_minor or None,
        "settlement_date": settlement["created_at"][:10] + "T00:00:00.000Z",
        "settled_by": None,
        "createdAt": settlement["created_at"],
        "updatedAt": settlement["updated_at"],
    }
