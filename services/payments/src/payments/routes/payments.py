"""Payments of a buyer."""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNED_IN, one_of, permission
from common.primitives.web_origins import is_on_allowed_origin, origin_of
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok
from common.web.idempotency import IdempotencyKey
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import QueryInstant
from payments.dependencies import Dependencies
from payments.domain.errors import CallbackNotAllowed
from payments.domain.transitions import PaymentStatus
from payments.queries.charges import list_charges_of_payment
from payments.queries.payments import find_payment, intent_view, page_of_payments
from payments.responses.charges import Charge
from payments.responses.payments import Payment, PaymentIntent
from payments.schemas.payments import CreatePaymentIntentRequest
from payments.use_cases.intents.prepare_intent import PaymentRequest
from payments.use_cases.intents.start_payment import start_payment

endpoint = Endpoints("payments")


async def payment_filters(
    status: Annotated[PaymentStatus | None, Query()] = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    purchase_id: Annotated[UUID | None, Query(alias="purchaseId")] = None,
    start: Annotated[QueryInstant | None, Query(alias="from", description="Created at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Created before this.")] = None,
    reference: Annotated[
        QueryText | None, Query(max_length=100, description="The payment's reference at the gateway.")
    ] = None,
) -> Mapping[str, object]:
    """Return the given filters by their public names."""
    filters = {
        "status": status,
        "orderId": order_id,
        "purchaseId": purchase_id,
        "from": start,
        "to": end,
        "reference": reference,
    }
    return {name: value for name, value in filters.items() if value is not None}


PaymentFilters = Annotated[Mapping[str, object], Depends(payment_filters)]


@endpoint(
    "POST",
    "/api/payments/intent",
    id="payments.createIntent",
    returns=PaymentIntent,
    status=201,
    errors=(404,),
    allow=permission("orders:place"),
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.REQUIRED,
)
async def create_payment_intent(
    request: Request, caller: CurrentCaller, body: CreatePaymentIntentRequest, key: IdempotencyKey
) -> Response:
    """Open a payment of an order, or of a purchase's unpaid orders, at the payment gateway. Redirect the buyer to
    `authorizationUrl`. With `balanceMinor` the buyer's balance pays that part; an intent without a rest is `paid` at
    once.
    """
    dependencies = dependencies_of(request, Dependencies)
    if body.callback_url is not None and not is_on_allowed_origin(body.callback_url, dependencies.allowed_origins):
        raise CallbackNotAllowed(origin_of(body.callback_url))
    payment_request = PaymentRequest(
        body.order_id, body.channel, body.callback_url, key, body.purchase_id, body.balance_minor
    )
    intent = await start_payment(
        dependencies.database,
        dependencies.gateways,
        dependencies.clock,
        caller,
        payment_request,
        dependencies.placed,
    )
    return ok(request, intent_view(intent), status=201)


@endpoint("GET", "/api/payments", id="payments.list", returns=list[Payment], allow=SIGNED_IN.for_keys("payments:read"))
async def list_payments(
    request: Request,
    caller: CurrentCaller,
    filters: PaymentFilters,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
) -> Response:
    """Return the caller's own payments; all for staff."""
    dependencies = dependencies_of(request, Dependencies)
    found = await page_of_payments(dependencies.database.reads_for(caller), page, filters)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET", "/api/payments/{payment_id}", id="payments.get", returns=Payment, allow=SIGNED_IN.for_keys("payments:read")
)
async def get_payment(request: Request, caller: CurrentCaller, payment_id: UUID) -> Response:
    """Return one payment."""
    dependencies = dependencies_of(request, Dependencies)
    return ok(request, await find_payment(dependencies.database.reads_for(caller), payment_id))


@endpoint(
    "GET",
    "/api/payments/{payment_id}/charges",
    id="payments.listCharges",
    returns=list[Charge],
    allow=one_of("payments:read", "ledger:read"),
)
async def list_charges(request: Request, caller: CurrentCaller, payment_id: UUID) -> Response:
    """List what the gateway charged for a payment, oldest first, with the parts of each charge: the orders that it
    paid, its surplus, refunds and chargebacks. A payment from the balance alone has none.
    """
    database = dependencies_of(request, Dependencies).database
    await find_payment(database.reads_for(caller), payment_id)
    # As the service: a reader of payments may have no permission for the tables of each part.
    return ok(request, await list_charges_of_payment(database.reads_for(THE_SERVICE), payment_id))
