"""The payment gateways' webhooks (contract section 9): verify the signature of the raw bytes, commit, respond 200."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNATURE
from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.web.endpoint_table import MIB
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of, ok
from common.web.raw_bodies import read_raw_body
from common.web.responses import WebhookReceipt
from payments.dependencies import Dependencies
from payments.domain.signature import flutterwave_hash_of, signed_by
from payments.metrics import WEBHOOKS_ACCEPTED, WEBHOOKS_REJECTED
from payments.use_cases.webhooks.receive_webhook import receive_webhook
from providers.gateways import FLUTTERWAVE, PAYSTACK, GatewayName

BODY_BYTES_MAX: Final = MIB
_INVALID_SIGNATURE: Final = b'{"error":"Invalid signature"}'


endpoint = Endpoints("functions")


@endpoint(
    "POST",
    "/functions/v1/gateway-webhook",
    id="webhooks.receiveGateway",
    returns=WebhookReceipt,
    allow=SIGNATURE,
    raw=True,
    body_bytes_max=BODY_BYTES_MAX,
)
async def receive_gateway_webhook(request: Request) -> Response:
    """Receive a webhook of the payment gateway. The signature over the raw bytes is the only check."""
    dependencies = dependencies_of(request, Dependencies)
    raw = await read_raw_body(request, BODY_BYTES_MAX)
    secret = signed_by(raw, request.headers.get(dependencies.signature_header), dependencies.webhook_secrets)
    if secret is None:
        WEBHOOKS_REJECTED.inc()
        return Response(_INVALID_SIGNATURE, status_code=401, media_type="application/json")
    if secret > 0:
        PREVIOUS_KEY_ACCEPTED.labels("gateway-secret-key").inc()
    return await _receive(request, dependencies, PAYSTACK, raw)


@endpoint(
    "POST",
    "/api/webhooks/flutterwave",
    id="webhooks.receiveFlutterwave",
    returns=WebhookReceipt,
    allow=SIGNATURE,
    raw=True,
    body_bytes_max=BODY_BYTES_MAX,
)
async def receive_flutterwave_webhook(request: Request) -> Response:
    """Receive a webhook of Flutterwave, the second gateway. It causes a query; its content is never trusted."""
    dependencies = dependencies_of(request, Dependencies)
    raw = await read_raw_body(request, BODY_BYTES_MAX)
    offered = request.headers.get("verif-hash"), request.headers.get("flutterwave-signature")
    secret = flutterwave_hash_of(raw, *offered, dependencies.flutterwave_webhook_hashes)
    if secret is None:
        WEBHOOKS_REJECTED.inc()
        return Response(_INVALID_SIGNATURE, status_code=401, media_type="application/json")
    if secret > 0:
        PREVIOUS_KEY_ACCEPTED.labels("flutterwave-webhook-hash").inc()
    return await _receive(request, dependencies, FLUTTERWAVE, raw)


async def _receive(request: Request, dependencies: Dependencies, name: GatewayName, raw: bytes) -> Response:
    gateway = dependencies.gateways.of(name)
    with dependencies.webhooks.place_for(name) as process:
        arrival = await receive_webhook(dependencies.database, gateway, dependencies.clock, raw, process)
    WEBHOOKS_ACCEPTED.labels(arrival).inc()
    return ok(request, WebhookReceipt(received=True))
