"""The caller's push devices and the public key of browser subscriptions."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import PUBLIC, SIGNED_IN
from common.primitives.problems import NotFound, ValidationFailed
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from notifications.deliveries.queries import devices
from notifications.deliveries.responses import Device, VapidKey
from notifications.deliveries.schemas import RegisterDeviceRequest
from notifications.deliveries.use_cases.devices.register_device import register_device as register
from notifications.deliveries.use_cases.devices.remove_device import remove_device
from notifications.dependencies import Dependencies

endpoint = Endpoints("notifications")


@endpoint("GET", "/api/devices", id="devices.list", returns=list[Device], allow=SIGNED_IN)
async def list_devices(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's devices, newest first, without pages."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        registered = await devices.list_devices(uow, caller.id)
    return ok(request, [devices.device_response(device) for device in registered])


@endpoint("POST", "/api/devices", id="devices.register", returns=Device, status=201, allow=SIGNED_IN)
async def register_device(request: Request, caller: CurrentCaller, body: RegisterDeviceRequest) -> Response:
    """Register a device for push. A known token or subscription is the same device.

    409 when another account holds it: that account removes it first, or the device registers with a new token.
    """
    dependencies = dependencies_of(request, Dependencies)
    address, keys = body.token or "", None
    if body.subscription is not None:
        address, keys = body.subscription.endpoint, (body.subscription.keys.p256dh, body.subscription.keys.auth)
        fault = dependencies.push_settings.rules.fault_of(address)
        if fault is not None:
            raise ValidationFailed.of("subscription.endpoint", fault)
    # As the service: the device may belong to another user, whose row is invisible to the caller.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        device = await register(
            uow, dependencies.push_settings, caller.id, body.kind, address, keys, dependencies.clock.now()
        )
    return ok(request, devices.device_response(device), status=201)


@endpoint("DELETE", "/api/devices/{device_id}", id="devices.delete", status=204, allow=SIGNED_IN)
async def delete_device(request: Request, caller: CurrentCaller, device_id: UUID) -> Response:
    """Remove one of the caller's devices."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await remove_device(uow, device_id)
    return Response(status_code=204)


@endpoint("GET", "/api/devices/vapid-key", id="devices.getVapidKey", returns=VapidKey, errors=(404,), allow=PUBLIC)
async def get_vapid_key(request: Request) -> Response:
    """Return the public key of browser subscriptions; 404 without web push."""
    key = dependencies_of(request, Dependencies).push_settings.vapid_key
    if key is None:
        raise NotFound
    return ok(request, VapidKey(public_key=key))
