"""Settlements as Flutterwave's API shows them: to the merchant's bank account, or to the wallet that transfers use."""

from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.flutterwave.paging import respond_page
from sandbox.flutterwave.views import ACCOUNT_ID, app_fee_minor, cost_minor, flw_ref
from sandbox.flutterwave.wire import GATEWAY, failed, naira, succeeded
from sandbox.gateway.charges import CHARGES
from sandbox.gateway.fields import copied, nulls, row_id
from sandbox.gateway.settlements import SETTLEMENTS
from sandbox.web import RefusedError
from sandbox.world import world_of

STATUSES = {"success": "completed", "pending": "pending", "processing": "pending", "failed": "failed"}


async def list_settlements(request: Request) -> Response:
    return await respond_page(request, "Settlements fetched", SETTLEMENTS, [], settlement_view)


async def show_settlement(request: Request) -> Response:
    """One settlement with its transactions."""
    world = world_of(request)
    number = row_id(request.path_params["id"])

    def work(_fault: object) -> Response:
        statement = f"SELECT * FROM {SETTLEMENTS} WHERE id = ? AND gateway = ?"
        found = world.database.one(statement, number, GATEWAY)
        if found is None:
            raise RefusedError(404, "Settlement not found")
        charges = world.database.all(
            f"SELECT * FROM {CHARGES} WHERE listed.settlement_id = ? ORDER BY listed.id", number
        )
        shown = {**settlement_view(found), "transactions": [_transaction_view(charge) for charge in charges]}
        return succeeded("Settlement fetched", shown)

    return await respond_with_faults(request, world.faults, "list_call", (request.url.path,), work, failed)


def settlement_view(settlement: Row) -> dict[str, Any]:
    day = settlement["created_at"][:10] + "T04:00:00.000Z"
    return {
        **copied(settlement, "id currency destination created_at"),
        **nulls("processed_date processor_ref disburse_ref disburse_message fx_data flag_message refund_meta"),
        **nulls("chargeback_meta source_bankcode"),
        "account_id": ACCOUNT_ID,
        "merchant_name": "Campus Marketplace",
        "merchant_email": "finance@campus.example",
        "settlement_account": "0690000040",
        "bank_code": "044",
        "transaction_date": day,
        "due_date": day,
        "status": STATUSES[settlement["status"]],
        "is_local": True,
        "gross_amount": naira(settlement["processed_minor"]),
        "app_fee": naira(settlement["fees_minor"]),
        **dict.fromkeys(("merchant_fee", "chargeback", "stampduty_charge"), 0),
        "refund": naira(settlement["deductions_minor"]),
        "net_amount": naira(settlement["amount_minor"]),
        "channel": "web",
    }


def _transaction_view(charge: Row) -> dict[str, Any]:
    amount_minor = charge["amount_minor"]
    return {
        **copied(charge, "id currency", customer_email="email", tx_ref="reference"),
        "flw_ref": flw_ref(charge["id"], charge["access_code"]),
        "charged_amount": naira(amount_minor),
        "app_fee": naira(app_fee_minor(amount_minor)),
        **dict.fromkeys(("merchant_fee", "stampduty_charge", "subaccount_settlement"), 0),
        "settlement_amount": naira(amount_minor - cost_minor(amount_minor)),
        "status": "successful",
        "payment_entity": "card",
        "transaction_date": charge["created_at"][:10],
        "card_locale": "LOCAL",
        "rrn": "N/A",
    }
