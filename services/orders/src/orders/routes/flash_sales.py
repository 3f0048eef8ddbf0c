"""Flash sales: a limited quantity at a reduced price for a limited time (contract section 11)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import PUBLIC, one_of, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from common.web.schemas import EmptyRequest
from orders.dependencies import Dependencies
from orders.domain.flash_sales import SaleTerms
from orders.queries.flash_sales import find_public_sale, find_sale, page_of_sales
from orders.responses.flash_sales import FlashSale
from orders.schemas.flash_sales import ApproveFlashSaleRequest, CreateFlashSaleRequest, FlashSaleQuery
from orders.use_cases.flash_sales.approve_flash_sale import approve_flash_sale as approve
from orders.use_cases.flash_sales.create_flash_sale import create_flash_sale as create
from orders.use_cases.flash_sales.end_flash_sale import end_flash_sale as end

endpoint = Endpoints("flash sales")

SALES: Final = "/api/flash-sales"
SALE_PERMISSIONS: Final = ("flash_sales:keep", "flash_sales:propose")


@endpoint("GET", SALES, id="flashSales.list", returns=list[FlashSale], allow=PUBLIC, compressed=True)
async def list_flash_sales(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    query: Annotated[FlashSaleQuery, Query()],
) -> Response:
    """List running and upcoming sales, newest first; `status=ended` lists past sales."""
    dependencies = dependencies_of(request, Dependencies)
    filters = query.model_dump(by_alias=True, exclude_none=True)
    now = dependencies.clock.now()
    page = await page_of_sales(dependencies.database, requested, caller, filters, now=now)
    return respond_page(request, page)


@endpoint("GET", f"{SALES}/{{sale_id}}", id="flashSales.get", returns=FlashSale, allow=PUBLIC, compressed=True)
async def get_flash_sale(request: Request, caller: CurrentCaller, sale_id: UUID) -> Response:
    """Return a flash sale. Only the vendor and the staff of the campus see a prepared sale."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    sale = await find_public_sale(dependencies.database, sale_id, now=now)
    if sale is None and caller.user_id is not None:
        async with dependencies.database.unit_of_work(acting_as=caller) as uow:
            sale = await find_sale(uow, sale_id, now=now)
    return ok(request, or_not_found(sale))


@endpoint(
    "POST",
    SALES,
    id="flashSales.create",
    returns=FlashSale,
    status=201,
    allow=one_of(*SALE_PERMISSIONS, step_up_with="flash_sales:propose"),
)
async def create_flash_sale(request: Request, caller: CurrentCaller, body: CreateFlashSaleRequest) -> Response:
    """Create a sale of the vendor's product, or of one of its variants. While it runs, the product is sold under its
    terms only.

    Staff of the campus propose a sale with AAL2: it is `prepared` and has no effect until the vendor approves it.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    terms = SaleTerms(
        body.product_id,
        body.price_minor,
        body.quantity,
        body.per_buyer_limit,
        body.starts_at,
        body.ends_at,
        body.variant_id,
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        sale_id = await create(uow, caller, terms, now=now)
        sale = await find_sale(uow, sale_id, now=now)
    return ok(request, or_not_found(sale), status=201)


@endpoint(
    "POST",
    f"{SALES}/{{sale_id}}/approve",
    id="flashSales.approve",
    returns=FlashSale,
    allow=permission("flash_sales:keep"),
)
async def approve_flash_sale(
    request: Request, caller: CurrentCaller, sale_id: UUID, body: ApproveFlashSaleRequest | None = None
) -> Response:
    """Approve a sale that staff proposed, for its vendor. `end` declines it."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        proposed = or_not_found(await find_sale(uow, sale_id, now=now))
    approved_hash = body.hash if body else None
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await approve(uow, caller, sale_id, proposed.product_id, approved_hash, now=now)
        sale = await find_sale(uow, sale_id, now=now)
    return ok(request, or_not_found(sale))


@endpoint(
    "POST",
    f"{SALES}/{{sale_id}}/end",
    id="flashSales.end",
    returns=FlashSale,
    allow=one_of(*SALE_PERMISSIONS, step_up_with="flash_sales:propose"),
)
async def end_flash_sale(
    request: Request, caller: CurrentCaller, sale_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """End the sale now, or declines a proposed one. Placed orders keep their price."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await end(uow, caller, sale_id, now=now)
        sale = await find_sale(uow, sale_id, now=now)
    return ok(request, or_not_found(sale))
