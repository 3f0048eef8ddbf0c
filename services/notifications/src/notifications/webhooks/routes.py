"""Webhook endpoints of vendors and of the platform (contract section 9.5)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import one_of
from common.primitives.problems import NotFound, ValidationFailed
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from notifications.dependencies import Dependencies
from notifications.webhooks import queries
from notifications.webhooks.domain.webhooks import EVENT_LIFETIME, DeliveryStatus
from notifications.webhooks.responses import WebhookDelivery, WebhookEndpoint, WebhookEndpointWithSecret, WebhookReplay
from notifications.webhooks.schemas import (
    ChangeWebhookEndpointRequest,
    CreateWebhookEndpointRequest,
    ReplayWebhooksRequest,
)
from notifications.webhooks.use_cases.change_endpoint import EndpointChange, change_endpoint
from notifications.webhooks.use_cases.create_endpoint import create_endpoint
from notifications.webhooks.use_cases.remove_endpoint import remove_endpoint
from notifications.webhooks.use_cases.replay_events import replay_events
from notifications.webhooks.use_cases.rotate_secret import rotate_secret
from notifications.webhooks.use_cases.send_test_event import send_test_event

endpoint = Endpoints("webhooks")

ENDPOINTS: Final = "/api/webhook-endpoints"
ENDPOINT: Final = f"{ENDPOINTS}/{{endpoint_id}}"
_OWNERS: Final = ("webhooks:own", "webhooks:manage")


@endpoint("GET", ENDPOINTS, id="webhookEndpoints.list", returns=list[WebhookEndpoint], allow=one_of(*_OWNERS))
async def list_webhook_endpoints(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the caller's endpoints, newest first, without their secrets; a platform_admin sees all."""
    dependencies = dependencies_of(request, Dependencies)
    scope: list[object] = ["webhook-endpoints", caller.id]
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await queries.page_of_webhook_endpoints(uow, requested, scope)
    return respond_page(request, page)


@endpoint(
    "POST",
    ENDPOINTS,
    id="webhookEndpoints.create",
    returns=WebhookEndpointWithSecret,
    status=201,
    allow=one_of(*_OWNERS, step_up=True),
    idempotency=Idempotency.IGNORED,
)
async def create_webhook_endpoint(
    request: Request, caller: CurrentCaller, body: CreateWebhookEndpointRequest
) -> Response:
    """Register an address. `secret` is shown in this response only; an owner has at most 10 endpoints."""
    dependencies = dependencies_of(request, Dependencies)
    _check_address(dependencies, body.url)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        endpoint, secret = await create_endpoint(
            uow,
            caller,
            dependencies.encryption.webhook_secrets,
            url=body.url,
            event_types=body.event_types,
            description=body.description,
            now=dependencies.clock.now(),
        )
    return ok(request, WebhookEndpointWithSecret.from_record(endpoint, secret=secret), status=201)


@endpoint("GET", ENDPOINT, id="webhookEndpoints.get", returns=WebhookEndpoint, allow=one_of(*_OWNERS))
async def get_webhook_endpoint(request: Request, caller: CurrentCaller, endpoint_id: UUID) -> Response:
    """Return an endpoint of the caller without its secret; a platform_admin sees each."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, or_not_found(await queries.find_webhook_endpoint(uow, endpoint_id)))


@endpoint("PATCH", ENDPOINT, id="webhookEndpoints.update", returns=WebhookEndpoint, allow=one_of(*_OWNERS))
async def update_webhook_endpoint(
    request: Request, caller: CurrentCaller, endpoint_id: UUID, body: ChangeWebhookEndpointRequest
) -> Response:
    """Change address, event types, description or status. Disabling it fails its pending deliveries.

    A changed address needs AAL2.
    """
    dependencies = dependencies_of(request, Dependencies)
    if body.url is not None:
        caller.must_have_stepped_up(dependencies.clock.now())
        _check_address(dependencies, body.url)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        endpoint = await change_endpoint(
            uow,
            caller,
            endpoint_id,
            EndpointChange(body.url, body.event_types, body.description, body.status),
            now=dependencies.clock.now(),
        )
    return ok(request, queries.webhook_endpoint_response(endpoint))


@endpoint("DELETE", ENDPOINT, id="webhookEndpoints.delete", status=204, allow=one_of(*_OWNERS, step_up=True))
async def delete_webhook_endpoint(request: Request, caller: CurrentCaller, endpoint_id: UUID) -> Response:
    """Remove an endpoint with its deliveries."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await remove_endpoint(uow, caller, endpoint_id)
    return Response(status_code=204)


@endpoint(
    "POST",
    f"{ENDPOINT}/rotate-secret",
    id="webhookEndpoints.rotateSecret",
    returns=WebhookEndpointWithSecret,
    allow=one_of(*_OWNERS, step_up=True),
    idempotency=Idempotency.IGNORED,
)
async def rotate_webhook_secret(request: Request, caller: CurrentCaller, endpoint_id: UUID) -> Response:
    """Replace the secret, which is shown in this response only. For 24 hours both secrets sign."""
    dependencies = dependencies_of(request, Dependencies)
    encryptor, now = dependencies.encryption.webhook_secrets, dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        endpoint, secret = await rotate_secret(uow, caller, endpoint_id, encryptor, now)
    return ok(request, WebhookEndpointWithSecret.from_record(endpoint, secret=secret))


@endpoint("POST", f"{ENDPOINT}/replay", id="webhookEndpoints.replay", returns=WebhookReplay, allow=one_of(*_OWNERS))
async def replay_webhooks(
    request: Request, caller: CurrentCaller, endpoint_id: UUID, body: ReplayWebhooksRequest
) -> Response:
    """Send one event again, or all events since a time, each with its former `webhook-id`."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    if body.since is not None and body.since < now - EVENT_LIFETIME:
        raise ValidationFailed.of("since", f"must be at most {EVENT_LIFETIME.days} days ago")
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        queued = await replay_events(uow, endpoint_id, event_id=body.event_id, since=body.since, now=now)
    return ok(request, WebhookReplay(queued=queued))


@endpoint(
    "POST",
    f"{ENDPOINT}/test",
    id="webhookEndpoints.sendTest",
    returns=WebhookDelivery,
    status=201,
    allow=one_of(*_OWNERS),
    quota=Quota.SENSITIVE,
)
async def send_webhook_test(request: Request, caller: CurrentCaller, endpoint_id: UUID) -> Response:
    """Send a signed event of type `notifications.webhook_test.v1` whose `data.test` is true, whatever types the
    endpoint names.

    It has one attempt, whose result is in the endpoint's deliveries. A failure never disables the endpoint.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if not await queries.is_webhook_endpoint_visible(uow, endpoint_id):
            raise NotFound
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        delivery_id = await send_test_event(uow, endpoint_id, dependencies.clock.now())
        delivery = await queries.get_webhook_delivery(uow, delivery_id)
    return ok(request, delivery, status=201)


@endpoint(
    "GET",
    f"{ENDPOINT}/deliveries",
    id="webhookEndpoints.listDeliveries",
    returns=list[WebhookDelivery],
    allow=one_of(*_OWNERS),
)
async def list_webhook_deliveries(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    endpoint_id: UUID,
    status: DeliveryStatus | None = None,
) -> Response:
    """Return the deliveries of an endpoint with their last attempts, newest first, for 30 days."""
    dependencies = dependencies_of(request, Dependencies)
    scope: list[object] = ["webhook-deliveries", endpoint_id, status or "", caller.id]
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if not await queries.is_webhook_endpoint_visible(uow, endpoint_id):
            raise NotFound
        page = await queries.page_of_webhook_deliveries(uow, requested, scope, endpoint_id, status)
    return respond_page(request, page)


def _check_address(dependencies: Dependencies, url: str) -> None:
    fault = dependencies.webhook_rules.fault_of(url)
    if fault is not None:
        raise ValidationFailed.of("url", fault)
