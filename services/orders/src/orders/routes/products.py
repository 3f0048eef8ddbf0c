"""The public catalog (contract section 11), the hottest path of the system.

One model validates the query string: ten declared parameters, which FastAPI validates one by one, cost more.

**The product list is a raw endpoint** (`raw=True`): guarded and documented like any other, without FastAPI's routing
and dependencies. An anonymous first page costs 1.4 to 1.5 times the CPU of a bare Starlette endpoint with the same
SQL; an ordinary route cost 2.3 times.
"""

from typing import Any, Final
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from common.auth.guards import PUBLIC
from common.primitives.problems import NotFound
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, caller_of, dependencies_of, or_not_found
from common.web.pages import CursorRequest
from common.web.responses import NOT_MODIFIED, CursorMeta
from orders.dependencies import Dependencies
from orders.queries.own_products import find_hidden_product, find_own_product
from orders.queries.product_feed import lines_of_products, tag_of_products
from orders.queries.products import find_product, page_of_products
from orders.queries.products import list_categories as find_categories
from orders.responses.products import Category, Product
from orders.routes.entity_tags import PUBLIC_REVALIDATED, is_known, ok_or_unchanged
from orders.schemas.products import ProductQuery

# The hottest endpoint: FastAPI's routing would cost more than its query.

endpoint = Endpoints("products")

_QUERY: Final[list[dict[str, Any]]] = [
    {"name": name, "in": "query", "required": False, "schema": schema}
    for name, schema in ProductQuery.model_json_schema()["properties"].items()
]
_EMPTY_QUERY: Final = ProductQuery()
_JSON_LINES: Final = "application/jsonl"


@endpoint(
    "GET",
    "/api/products",
    id="products.list",
    returns=list[Product],
    responses=NOT_MODIFIED,
    allow=PUBLIC,
    raw=True,
    openapi_extra={"parameters": _QUERY},
    shared=True,
    compressed=True,
)
async def list_products(request: Request) -> Response:
    """List products. `q` finds products that match every word or its prefix."""
    dependencies = dependencies_of(request, Dependencies)
    query = _query_of(request)
    caller = await caller_of(request)
    page = await page_of_products(
        dependencies.database,
        CursorRequest(dependencies.cursors, query.limit, query.cursor),
        caller,
        query.filters,
        query.sort,
        now=dependencies.clock.now(),
        media_url=dependencies.media_url,
    )
    return ok_or_unchanged(request, page.items, caller, meta=CursorMeta, **page.position)


@endpoint(
    "GET",
    "/api/products/feed",
    id="products.getFeed",
    content=_JSON_LINES,
    responses=NOT_MODIFIED,
    allow=PUBLIC,
)
async def get_product_feed(request: Request) -> Response:
    """Return all listed products as JSON Lines, one product a line, sorted by id; 304 while nothing changed.

    Running flash sales and absences of vendors are only in the product itself.
    """
    dependencies = dependencies_of(request, Dependencies)
    tag = f'W/"{await tag_of_products(dependencies.database)}"'
    headers = {"ETag": tag, "Cache-Control": PUBLIC_REVALIDATED}
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    lines = lines_of_products(dependencies.database, dependencies.media_url)
    return StreamingResponse(lines, headers=headers, media_type=_JSON_LINES)


@endpoint(
    "GET",
    "/api/products/{product_id}",
    id="products.get",
    returns=Product,
    responses=NOT_MODIFIED,
    allow=PUBLIC,
    shared=True,
    compressed=True,
)
async def get_product(request: Request, caller: CurrentCaller, product_id: UUID) -> Response:
    """Return a listed product; its merchant sees a draft too, and its merchant and staff one that staff hid."""
    dependencies = dependencies_of(request, Dependencies)
    media_url = dependencies.media_url
    now = dependencies.clock.now()
    product = await find_product(dependencies.database, product_id, now=now, media_url=media_url)
    if product is not None:
        return ok_or_unchanged(request, product, caller, revision=product.revision)
    reads_hidden = caller.may("reports:read") or caller.may("listings:delist")
    if caller.vendor_id is None and not reads_hidden:
        raise NotFound
    own = None
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if caller.vendor_id is not None:
            own = await find_own_product(uow, product_id, caller.vendor_id, now=now, media_url=media_url)
        if own is None and reads_hidden:
            own = await find_hidden_product(uow, product_id, now=now, media_url=media_url)
    draft = or_not_found(own)
    return ok_or_unchanged(request, draft, caller, revision=draft.revision)


@endpoint(
    "GET", "/api/categories", id="categories.list", returns=list[Category], allow=PUBLIC, shared=True, compressed=True
)
async def list_categories(request: Request, caller: CurrentCaller) -> Response:
    """Return the hundred largest categories with the number of their listed products."""
    dependencies = dependencies_of(request, Dependencies)
    return ok_or_unchanged(request, await find_categories(dependencies.database), caller)


def _query_of(request: Request) -> ProductQuery:
    if not request.scope["query_string"]:
        return _EMPTY_QUERY
    try:
        return ProductQuery.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise RequestValidationError([{**entry, "loc": ("query", *entry["loc"])} for entry in error.errors()]) from None
