"""The routes of the payment gateway."""

import hmac
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sandbox.gateway.banks import list_banks, resolve_account, show_balance
from sandbox.gateway.charge_routes import (
    check_charge,
    create_charge,
    initialize_transaction,
    list_transactions,
    show_transaction,
    verify_transaction,
)
from sandbox.gateway.checkout import show_checkout, submit_checkout
from sandbox.gateway.dispute_routes import (
    create_evidence,
    list_disputes,
    receive_upload,
    resolve_dispute,
    show_dispute,
    show_upload_url,
)
from sandbox.gateway.recipients import create_recipient, show_recipient
from sandbox.gateway.refund_routes import create_refund, list_refunds, retry_refund, show_refund
from sandbox.gateway.settlements import list_settlement_transactions, list_settlements
from sandbox.gateway.transfer_routes import finalize_transfer, initiate_transfer, list_transfers, verify_transfer
from sandbox.web import RefusedError
from sandbox.world import world_of

Endpoint = Callable[[Request], Awaitable[Response]]


def requires_secret_key(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint, guarded by the merchant's secret key: 401 without one of the accepted keys as Bearer."""

    async def guarded(request: Request) -> Response:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            raise RefusedError(401, "No Authorization Header was found")
        presented = given.strip().encode()
        keys = world_of(request).gateway_keys
        if not any(hmac.compare_digest(presented, key.encode()) for key in keys):
            raise RefusedError(401, "Invalid key")
        return await endpoint(request)

    return guarded


CALLS: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", "/transaction/initialize", initialize_transaction),
    ("GET", "/transaction/verify/{reference}", verify_transaction),
    ("GET", "/transaction/{id}", show_transaction),
    ("GET", "/transaction", list_transactions),
    ("POST", "/charge", create_charge),
    ("GET", "/charge/{reference}", check_charge),
    ("POST", "/transferrecipient", create_recipient),
    ("GET", "/transferrecipient/{code}", show_recipient),
    ("POST", "/transfer", initiate_transfer),
    ("POST", "/transfer/finalize_transfer", finalize_transfer),
    ("GET", "/transfer/verify/{reference}", verify_transfer),
    ("GET", "/transfer", list_transfers),
    ("POST", "/refund", create_refund),
    ("POST", "/refund/retry_with_customer_details/{id}", retry_refund),
    ("GET", "/refund/{id}", show_refund),
    ("GET", "/refund", list_refunds),
    ("GET", "/dispute", list_disputes),
    ("GET", "/dispute/{id}", show_dispute),
    ("POST", "/dispute/{id}/evidence", create_evidence),
    ("GET", "/dispute/{id}/upload_url", show_upload_url),
    ("PUT", "/dispute/{id}/resolve", resolve_dispute),
    ("GET", "/settlement", list_settlements),
    ("GET", "/settlement/{id}/transactions", list_settlement_transactions),
    ("GET", "/bank", list_banks),
    ("GET", "/bank/resolve", resolve_account),
    ("GET", "/balance", show_balance),
)

ROUTES = [
    Mount(
        "/gateway",
        routes=[Route(path, requires_secret_key(endpoint), methods=[method]) for method, path, endpoint in CALLS],
    ),
    Route("/uploads/{file_name}", receive_upload, methods=["PUT"]),
    Route("/pay/{access_code}", show_checkout, methods=["GET"]),
    Route("/pay/{access_code}", submit_checkout, methods=["POST"]),
]
