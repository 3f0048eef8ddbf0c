"""The files of a vendor's products (contract section 11.5)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from common.auth.guards import permission
from common.primitives.problems import NotFound
from common.web.endpoint_table import Idempotency, Media
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.raw_bodies import read_raw_body
from common.web.uploads import WrongMediaType
from orders.dependencies import Dependencies
from orders.domain.errors import CatalogTooLong
from orders.domain.product_files import IMPORT_BYTES_MAX, ROWS_MAX, csv_of_products
from orders.queries.product_files import list_exported_products
from orders.responses.product_files import ImportFault, ProductImport
from orders.schemas.product_files import read_import
from orders.use_cases.products.import_products import import_products as import_rows

endpoint = Endpoints("products")

_CSV_BODY: Final[dict[str, object]] = {
    "requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string", "format": "binary"}}}}
}
_FILE: Final = {"Content-Disposition": 'attachment; filename="products.csv"', "Cache-Control": "no-store"}


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/products/export",
    id="products.export",
    content="text/csv",
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def export_products(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    """Return the own vendor's products as a CSV file, one row for each variant; above 10,000 rows 422."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        if caller.vendor_id != vendor_id:
            raise NotFound
        exported = await list_exported_products(uow, vendor_id, ROWS_MAX + 1)
    if len(exported) > ROWS_MAX:
        raise CatalogTooLong(ROWS_MAX)
    return StreamingResponse(csv_of_products(exported), headers=_FILE, media_type="text/csv")


@endpoint(
    "POST",
    "/api/vendors/{vendor_id}/products/import",
    id="products.import",
    returns=ProductImport,
    errors=(413, 415),
    allow=permission("catalog:own").for_keys("shop_products:write"),
    media=Media.CSV,
    body_bytes_max=IMPORT_BYTES_MAX,
    # The same file again updates the same products by their SKUs.
    idempotency=Idempotency.IGNORED,
    openapi_extra=_CSV_BODY,
)
async def import_products(request: Request, caller: CurrentCaller, vendor_id: UUID, atomic: bool = False) -> Response:
    """Create and update products by `sku` from a CSV file of up to 1,000 rows; `atomic=true`: all rows or none.

    UTF-8, with or without a byte order mark. Rows with options and the same name are variants of one product. A row
    with an error changes nothing and is listed with its line.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    if caller.vendor_id != vendor_id:
        raise NotFound
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != Media.CSV.value:
        raise WrongMediaType("The body must be text/csv.")
    rows, result = read_import(await read_raw_body(request, IMPORT_BYTES_MAX))
    await import_rows(dependencies.database, caller, rows, result, atomic=atomic, now=now)
    faults = [ImportFault(row=row, errors=errors) for row, errors in sorted(result.faults.items())]
    return ok(request, ProductImport(created=result.created, updated=result.updated, rows=faults))
