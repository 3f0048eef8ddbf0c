"""The catalog, open to everybody (contract section 11). The hottest path of the system.

One model reads the query, instead of ten declared parameters that FastAPI would collect and validate one by one.
"""

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from common.answers import answers
from common.http import RawRoute, caller_of, dependencies_of, guarded_router, ok, public
from common.problems import NotFound
from orders.queries.products import find_product, page_of_products
from orders.schemas.products import ProductAnswer, ProductPageAnswer, ProductQuery

if TYPE_CHECKING:
    from orders.app import Dependencies

# The list is the hottest door of all: the framework around it would cost more than its query.
shelves = APIRouter(route_class=RawRoute, tags=["products"])
router = guarded_router(tags=["products"])

_QUERY: Final[list[dict[str, Any]]] = [
    {"name": name, "in": "query", "required": False, "schema": schema}
    for name, schema in ProductQuery.model_json_schema()["properties"].items()
]
_NOTHING_ASKED: Final = ProductQuery()


@shelves.get("/api/products", responses=answers(ProductPageAnswer, 422), openapi_extra={"parameters": _QUERY})
@public
async def browse_products(request: Request) -> Response:
    """Products on the shelf. `q` finds products that have every word, or words that begin with it."""
    dependencies: Dependencies = dependencies_of(request)
    query = _query_of(request)
    page = await page_of_products(
        dependencies.database,
        dependencies.cursors,
        await caller_of(request),
        query.filters,
        query.sort,
        query.limit,
        query.cursor,
    )
    return ok(request, page.rows, **page.meta)


@router.get("/api/products/{product_id}", responses=answers(ProductAnswer, 404))
@public
async def show_product(request: Request, product_id: UUID) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    product = await find_product(dependencies.database, product_id)
    if product is None:
        raise NotFound
    return ok(request, product)


def _query_of(request: Request) -> ProductQuery:
    if not request.scope["query_string"]:
        return _NOTHING_ASKED
    try:
        return ProductQuery.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise RequestValidationError([{**fault, "loc": ("query", *fault["loc"])} for fault in error.errors()]) from None
