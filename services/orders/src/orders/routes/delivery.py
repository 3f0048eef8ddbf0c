"""The delivery PIN (contract section 6)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNED_IN
from common.database.unit_of_work import UnitOfWork
from common.web.endpoint_table import Idempotency
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import IdempotencyKey
from common.web.schemas import EmptyRequest
from orders.dependencies import Dependencies
from orders.domain.pins import WRONG_ATTEMPTS_MAX, attempts_remaining, check_pin_visible
from orders.queries.orders import find_encrypted_pin, find_order
from orders.responses.delivery import DeliveryPin, OrderDelivery, ReissuedDeliveryPin
from orders.routes.order_commands import order_after_pin, roles_in_order
from orders.routes.orders import ONE_ORDER
from orders.schemas.delivery import VerifyDeliveryRequest
from orders.use_cases.delivery.explain_missing_pin import explain_missing_pin
from orders.use_cases.delivery.reissue_delivery_pin import reissue_delivery_pin as reissue
from orders.use_cases.delivery.verify_delivery import PinAttempt

endpoint = Endpoints("delivery")

# Caches between the service and the client must not store the PIN.
NEVER_STORED: Final = {"Cache-Control": "no-store"}


@endpoint(
    "POST",
    f"{ONE_ORDER}/verify-delivery",
    id="orders.verifyDelivery",
    returns=OrderDelivery,
    allow=SIGNED_IN,
    idempotency=Idempotency.REQUIRED,
)
async def verify_delivery(
    request: Request, caller: CurrentCaller, order_id: UUID, key: IdempotencyKey, body: VerifyDeliveryRequest
) -> Response:
    """Confirm the hand-over with the PIN, as the vendor, an agent of the order's hub, or the buyer.

    Five wrong attempts in total lock the PIN.
    """
    contacts = dependencies_of(request, Dependencies).contacts
    roles = await roles_in_order(request, caller, order_id)

    async def find(uow: UnitOfWork) -> OrderDelivery | None:
        order = await find_order(uow, order_id, caller, contacts)
        return None if order is None else OrderDelivery.from_record(order)

    return await order_after_pin(request, PinAttempt(order_id, body.pin, caller.id, key), roles, find)


@endpoint("GET", f"{ONE_ORDER}/delivery-pin", id="orders.getDeliveryPin", returns=DeliveryPin, allow=SIGNED_IN)
async def get_delivery_pin(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Return the PIN to the buyer while it is valid; 409 before the payment and after its use. 404 for others."""
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    stored = await find_encrypted_pin(reads, order_id)
    if stored is None:
        await explain_missing_pin(reads, order_id, caller.id)
    check_pin_visible(stored.order_status)
    pin = dependencies.pins.decrypt_stored(order_id, stored.issue, stored.encrypted)
    shown = DeliveryPin(pin=pin, attempts_remaining=attempts_remaining(stored.wrong_tries))
    return ok(request, shown, headers=NEVER_STORED)


@endpoint(
    "POST",
    f"{ONE_ORDER}/delivery-pin/reissue",
    id="orders.reissueDeliveryPin",
    returns=ReissuedDeliveryPin,
    allow=SIGNED_IN,
    idempotency=Idempotency.IGNORED,
)
async def reissue_delivery_pin(
    request: Request, caller: CurrentCaller, order_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Replace the buyer's PIN and send the new one, at most three times. The old PIN becomes invalid."""
    dependencies = dependencies_of(request, Dependencies)
    roles = await roles_in_order(request, caller, order_id)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        pin, reissues_remaining = await reissue(uow, dependencies.pins, order_id, roles, dependencies.clock.now())
    shown = ReissuedDeliveryPin(pin=pin, attempts_remaining=WRONG_ATTEMPTS_MAX, reissues_remaining=reissues_remaining)
    return ok(request, shown, headers=NEVER_STORED)
