"""Orders by campus, for staff (contract section 6)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from common.auth.guards import one_of
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from orders.dependencies import Dependencies
from orders.domain.errors import ExportTooLong
from orders.domain.exports import EXPORT_ROWS_MAX, csv_of_orders
from orders.queries.campus_orders import list_campus_orders, page_of_campus_orders, search_by_address
from orders.queries.filters import Filters
from orders.responses.orders import Order
from orders.routes.order_filters import OrderFilters, given_filters

endpoint = Endpoints("campus orders")

CAMPUS_ORDERS: Final = "/api/campus-orders"
READERS: Final = ("campus_orders:read", "orders:read")
FILE_HEADERS: Final = {"Content-Disposition": 'attachment; filename="campus-orders.csv"', "Cache-Control": "no-store"}


async def filters_of(
    filters: OrderFilters,
    campus_id: Annotated[UUID | None, Query(alias="campusId")] = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    buyer_id: Annotated[UUID | None, Query(alias="buyerId")] = None,
    awaiting: Annotated[
        Literal["resolution"] | None,
        Query(description="Only disputed orders without a prepared resolution, which the caller may resolve."),
    ] = None,
) -> Filters:
    """Return the given filters by their public names."""
    return {
        **filters,
        **given_filters(campusId=campus_id, vendorId=vendor_id, buyerId=buyer_id, awaiting=awaiting),
    }


CampusFilters = Annotated[Filters, Depends(filters_of)]


@endpoint("GET", CAMPUS_ORDERS, id="orders.listByCampus", returns=list[Order], allow=one_of(*READERS))
async def list_orders_of_campuses(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "total"))],
    filters: CampusFilters,
) -> Response:
    """List all orders for support and auditors, and orders of their campus for campus admins."""
    dependencies = dependencies_of(request, Dependencies)
    filters = search_by_address(filters, dependencies.address_hashes)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_campus_orders(uow, dependencies.contacts, caller, page, filters)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    f"{CAMPUS_ORDERS}/export",
    id="orders.exportByCampus",
    content="text/csv",
    allow=one_of(*READERS),
)
async def export_orders_of_campuses(request: Request, caller: CurrentCaller, filters: CampusFilters) -> Response:
    """Return at most 10,000 orders as a CSV file; more are rejected with 422."""
    dependencies = dependencies_of(request, Dependencies)
    filters = search_by_address(filters, dependencies.address_hashes)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        exported = await list_campus_orders(uow, caller, filters, EXPORT_ROWS_MAX + 1)
    if len(exported) > EXPORT_ROWS_MAX:
        raise ExportTooLong(EXPORT_ROWS_MAX)
    return StreamingResponse(csv_of_orders(exported), headers=FILE_HEADERS, media_type="text/csv")
