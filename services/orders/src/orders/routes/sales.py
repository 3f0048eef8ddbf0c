"""Sales of a vendor, of a campus and of the marketplace (contract section 6.8)."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal
from uuid import UUID

import msgspec
from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import one_of
from common.primitives.problems import NotFound
from common.web.csv_export import csv_head, csv_lines
from common.web.endpoints import Endpoints, Responses
from common.web.http import CurrentCaller, dependencies_of
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import QueryInstant
from orders.dependencies import Dependencies
from orders.domain.errors import ExportTooLong
from orders.domain.sales import EXPORT_GROUPS_MAX
from orders.queries.sales import SALE_SORTS, SalesQuery, is_vendor_visible, page_of_sales
from orders.queries.sales import list_sales as find_sales
from orders.responses.sales import SalesGroup

endpoint = Endpoints("sales")

READERS: Final = ("campus_orders:read", "ledger:read")
_CSV: Final = "text/csv"
_FILE_HEADERS: Final = {"Content-Disposition": 'attachment; filename="sales.csv"', "Cache-Control": "no-store"}
_From = Annotated[
    QueryInstant | None,
    Query(alias="from", description="Paid at or after this; a date alone is its midnight in Lagos."),
]
_To = Annotated[
    QueryInstant | None, Query(alias="to", description="Paid before this; a date alone is its midnight in Lagos.")
]
_Page = Annotated[OffsetPage, Depends(offset_page(*SALE_SORTS))]


_OR_CSV: Final[Responses] = {200: {"content": {_CSV: {"schema": {"type": "string"}}}}}


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/sales",
    id="sales.listByVendor",
    returns=list[SalesGroup],
    responses=_OR_CSV,
    allow=one_of("orders:fulfil", *READERS).for_keys("shop_orders:read"),
)
async def list_sales_of_vendor(
    request: Request,
    caller: CurrentCaller,
    vendor_id: UUID,
    page: _Page,
    start: _From = None,
    end: _To = None,
    group: Annotated[Literal["day", "week", "month", "product", "variant"], Query(alias="groupBy")] = "day",
) -> Response:
    """Return the vendor's sales to the vendor, finance and auditors, and to admins of its campus those on that campus.

    Days, weeks and months are those of Africa/Lagos; an order belongs to the day of its payment. With
    `Accept: text/csv` all groups as a file, at most 10,000.
    """
    return await _sales(request, caller, SalesQuery(group, start, end, vendor_id), page)


@endpoint("GET", "/api/sales", id="sales.list", returns=list[SalesGroup], responses=_OR_CSV, allow=one_of(*READERS))
async def list_sales(
    request: Request,
    caller: CurrentCaller,
    page: _Page,
    start: _From = None,
    end: _To = None,
    group: Annotated[Literal["campus", "vendor", "category", "day"], Query(alias="groupBy")] = "day",
) -> Response:
    """Return sales of all vendors to finance and auditors, and to campus admins those on their campus; otherwise as
    sales of a vendor."""
    return await _sales(request, caller, SalesQuery(group, start, end), page)


async def _sales(request: Request, caller: CurrentCaller, query: SalesQuery, page: OffsetPage) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if query.vendor_id is not None and not await is_vendor_visible(uow, caller, query.vendor_id):
            raise NotFound
        if not _prefers_csv(request.headers.get("accept", "")):
            return respond_offset_page(request, page, await page_of_sales(uow, caller, query, page))
        exported = await find_sales(uow, caller, query, EXPORT_GROUPS_MAX + 1)
    if len(exported) > EXPORT_GROUPS_MAX:
        raise ExportTooLong(EXPORT_GROUPS_MAX)
    return Response(_csv(exported), headers=_FILE_HEADERS, media_type=_CSV)


def _prefers_csv(accept: str) -> bool:
    """Return whether the header names CSV, and JSON not before it."""
    named = [media.partition(";")[0].strip().lower() for media in accept.split(",")]
    return _CSV in named and "application/json" not in named[: named.index(_CSV)]


def _csv(groups: Sequence[SalesGroup]) -> str:
    return csv_head(SalesGroup.__struct_encode_fields__) + csv_lines(msgspec.structs.astuple(one) for one in groups)
