"""The catalog, open to everybody (contract section 11)."""

from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.http import (
    LIMIT_DEFAULT,
    CurrentCaller,
    Cursor,
    Limit,
    QueryText,
    dependencies_of,
    guarded_router,
    ok,
    public,
)
from common.money import AMOUNT_MINOR_MAX
from common.problems import NotFound
from orders import queries
from orders.schemas import ProductAnswer, ProductPageAnswer

if TYPE_CHECKING:
    from orders.app import Dependencies

router = guarded_router(tags=["products"])

Price = Annotated[int | None, Query(ge=0, le=AMOUNT_MINOR_MAX)]


@router.get("/api/products", responses={200: {"model": ProductPageAnswer}})
@public
async def browse_products(
    request: Request,
    caller: CurrentCaller,
    q: Annotated[QueryText | None, Query(min_length=1, max_length=200)] = None,
    vendorId: UUID | None = None,  # noqa: N803
    campusId: UUID | None = None,  # noqa: N803
    category: Annotated[QueryText | None, Query(min_length=1, max_length=60)] = None,
    minPriceMinor: Price = None,  # noqa: N803
    maxPriceMinor: Price = None,  # noqa: N803
    inStock: bool | None = None,  # noqa: N803
    sort: Literal["newest", "price_asc", "price_desc"] = "newest",
    limit: Limit = LIMIT_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Products on the shelf. `q` finds products that have every word, or words that begin with it."""
    dependencies: Dependencies = dependencies_of(request)
    asked: dict[str, Any] = {
        "q": q,
        "vendorId": vendorId,
        "campusId": campusId,
        "category": category,
        "minPriceMinor": minPriceMinor,
        "maxPriceMinor": maxPriceMinor,
        "inStock": inStock,
    }
    filters = {name: value for name, value in asked.items() if value is not None}
    page = await queries.page_of_products(
        dependencies.database, dependencies.cursors, caller, filters, sort, limit, cursor
    )
    return ok(request, page.rows, **page.meta)


@router.get("/api/products/{product_id}", responses={200: {"model": ProductAnswer}})
@public
async def show_product(request: Request, product_id: UUID) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    product = await queries.product(dependencies.database, product_id)
    if product is None:
        raise NotFound
    return ok(request, product)
