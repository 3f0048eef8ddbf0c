"""The addresses of Flutterwave's API."""

import hmac
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sandbox.flutterwave.payments import (
    create_charge,
    create_payment,
    create_refund,
    list_chargebacks,
    list_refunds,
    list_transactions,
    show_refund,
    verify_by_id,
    verify_by_reference,
)
from sandbox.flutterwave.settlements import list_settlements, show_settlement
from sandbox.flutterwave.transfers import (
    create_beneficiary,
    create_transfer,
    list_banks,
    list_transfers,
    resolve_account,
    show_balance,
    show_transfer,
)
from sandbox.flutterwave.wire import failed
from sandbox.sinks.accounts import account_state
from sandbox.web import RefusedError
from sandbox.world import world_of

Endpoint = Callable[[Request], Awaitable[Response]]


def requires_secret_key(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint, guarded by the merchant's secret key, with this gateway's envelope for every error."""

    async def guarded(request: Request) -> Response:
        world = world_of(request)
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        presented = given.strip().encode()
        is_known = any(hmac.compare_digest(presented, key.encode()) for key in world.flutterwave_keys)
        if scheme.lower() != "bearer" or not is_known or account_state(world, "flutterwave_key") != "accepted":
            return failed(401, "Invalid authorization key" if given else "Authorization required")
        try:
            return await endpoint(request)
        except RefusedError as error:
            return failed(error.status, error.message)

    return guarded


CALLS: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", "/payments", create_payment),
    ("POST", "/charges", create_charge),
    ("GET", "/transactions", list_transactions),
    ("GET", "/transactions/verify_by_reference", verify_by_reference),
    ("GET", "/transactions/{id}/verify", verify_by_id),
    ("POST", "/transactions/{id}/refund", create_refund),
    ("GET", "/refunds", list_refunds),
    ("GET", "/refunds/{id}", show_refund),
    ("GET", "/chargebacks", list_chargebacks),
    ("GET", "/settlements", list_settlements),
    ("GET", "/settlements/{id}", show_settlement),
    ("POST", "/beneficiaries", create_beneficiary),
    ("POST", "/transfers", create_transfer),
    ("GET", "/transfers", list_transfers),
    ("GET", "/transfers/{id}", show_transfer),
    ("GET", "/banks/NG", list_banks),
    ("POST", "/accounts/resolve", resolve_account),
    ("GET", "/balances/{currency}", show_balance),
)

ROUTES = [
    Mount(
        "/flutterwave/v3",
        routes=[Route(path, requires_secret_key(endpoint), methods=[method]) for method, path, endpoint in CALLS],
    ),
]
