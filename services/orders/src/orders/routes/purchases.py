"""Purchases: one checkout of several vendors' products (contract section 6.3)."""

from dataclasses import replace
from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import SIGNED_IN, permission
from common.primitives.public_numbers import NumberKind, described_search
from common.web.endpoint_table import Idempotency
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok, or_not_found
from common.web.idempotency import IdempotencyKey
from common.web.pages import RequestedPage, respond_page
from orders.dependencies import Dependencies
from orders.domain.checkouts import Checkout, FromCart, FromDraft
from orders.domain.purchases import Delivery
from orders.queries.purchase_drafts import find_purchase_draft
from orders.queries.purchases import find_purchase, new_purchase_of, page_of_purchases
from orders.responses.purchase_drafts import PurchaseDraft
from orders.responses.purchases import Purchase
from orders.routes.order_commands import place, requested_lines
from orders.schemas.purchases import CheckOutDraftRequest, PurchaseDeliveries, PurchaseRequest

endpoint = Endpoints("purchases")

PURCHASES: Final = "/api/purchases"
DRAFTS: Final = "/api/purchase-drafts"


@endpoint(
    "POST",
    PURCHASES,
    id="purchases.create",
    returns=Purchase,
    status=201,
    allow=permission("orders:place"),
    idempotency=Idempotency.REQUIRED,
)
async def create_purchase(
    request: Request, caller: CurrentCaller, key: IdempotencyKey, body: PurchaseRequest
) -> Response:
    """Place an order with each vendor of the products, to be paid together: all orders, or none.

    409 names the items that are gone, sold out or of a suspended vendor.
    """
    checkout = replace(
        _checkout(body),
        requested_items=requested_lines(body),
        cart=FromCart(body.cart_id, None) if body.cart_id else None,
    )
    return await _placed(request, caller, checkout, key)


def _checkout(body: PurchaseDeliveries) -> Checkout:
    return Checkout(
        requested_items=(),
        campus_id=body.campus_id,
        hub_id=body.hub_id,
        delivery_note=body.delivery_note,
        expected_total_minor=body.expected_total_minor,
        deliveries=[Delivery(own.vendor_id, own.hub_id, own.delivery_note) for own in body.deliveries],
    )


async def _placed(request: Request, caller: Caller, requested: Checkout, key: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        placed = await place(dependencies, uow, caller, requested, key)
        if isinstance(placed, UUID):
            purchase = or_not_found(await find_purchase(uow, placed, caller, dependencies.contacts))
        else:
            purchase = new_purchase_of(or_not_found(placed.purchase), placed.orders, caller, dependencies.contacts)
    return ok(request, purchase, status=201)


@endpoint("GET", PURCHASES, id="purchases.list", returns=list[Purchase], allow=SIGNED_IN)
async def list_purchases(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    q: Annotated[
        QueryText | None,
        Query(
            min_length=1,
            max_length=200,
            description=described_search(NumberKind.PURCHASE) + ".",
        ),
    ] = None,
) -> Response:
    """Return the caller's purchases, newest first; those of all buyers for staff with `orders:read`."""
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    page = await page_of_purchases(reads, requested, dependencies.contacts, caller, q)
    return respond_page(request, page)


@endpoint("GET", f"{PURCHASES}/{{purchase_id}}", id="purchases.get", returns=Purchase, allow=SIGNED_IN)
async def get_purchase(request: Request, caller: CurrentCaller, purchase_id: UUID) -> Response:
    """Return one purchase, for its buyer and staff with `orders:read`. A vendor reads its order only, finance the
    orders that were charged.
    """
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    return ok(request, or_not_found(await find_purchase(reads, purchase_id, caller, dependencies.contacts)))


@endpoint(
    "GET",
    f"{DRAFTS}/{{draft_id}}",
    id="purchaseDrafts.get",
    returns=PurchaseDraft,
    allow=permission("orders:place"),
)
async def get_purchase_draft(request: Request, caller: CurrentCaller, draft_id: UUID) -> Response:
    """Return a cart that the caller sent in the messaging app, at the current prices; 404 for other callers."""
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    return ok(request, or_not_found(await find_purchase_draft(reads, draft_id, dependencies.clock.now())))


@endpoint(
    "POST",
    f"{DRAFTS}/{{draft_id}}/checkout",
    id="purchaseDrafts.checkout",
    returns=Purchase,
    status=201,
    allow=permission("orders:place"),
    idempotency=Idempotency.REQUIRED,
)
async def check_out_purchase_draft(
    request: Request,
    caller: CurrentCaller,
    key: IdempotencyKey,
    draft_id: UUID,
    body: CheckOutDraftRequest | None = None,
) -> Response:
    """Make the purchase of a draft, once, at the current prices; 409 names the items that cannot be ordered."""
    chosen = body or CheckOutDraftRequest(deliveries=[])
    checkout = replace(_checkout(chosen), draft=FromDraft(draft_id, chosen.skip_unavailable))
    return await _placed(request, caller, checkout, key)
