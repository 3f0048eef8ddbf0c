"""The calls about money coming in: initialize, verify, list."""

from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.charges import CHARGES, find_charge, open_transaction, read_opening
from sandbox.gateway.events import authorization_of
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
    world = world_of(request)
    reference = request.path_params["reference"]

    def work(_fault: object) -> Response:
        charge = find_charge(world.database, "reference", reference)
        if charge is None:
            raise RefusedError(404, "Transaction reference not found")
        return ok("Verification successful", charge_view(charge))

    return await respond_with_faults(request, world.faults, "verify_call", (reference,), work, refused)


async def list_transactions(request: Request) -> Response:
    conditions = [("listed.status = ?", request.query_params.get("status"))]
    return await respond_page(request, "Transactions retrieved", CHARGES, conditions, charge_view)


def charge_view(charge: Row) -> dict[str, Any]:
    """A transaction as verify and list show it; `abandoned` means that nobody has paid yet."""
    paid = charge["status"] == "success"
    return {
        "id": charge["id"],
        "domain": "test",
        "status": charge["status"],
        "reference": charge["reference"],
        "amount": charge["amount_minor"],
        "requested_amount": charge["requested_minor"],
        "message": None,
        "gateway_response": charge["gateway_response"],
        "paid_at": charge["paid_at"],
        "created_at": charge["created_at"],
        "channel": charge["channel"],
        "currency": charge["currency"],
        "authorization": authorization_of(charge) if paid else {},
        "customer": {
            "id": charge["customer_id"],
            "email": charge["email"],
            "customer_code": charge["customer_code"],
        },
        "metadata": msgspec.json.decode(charge["metadata"]),
    }
