"""Reviews of vendors and products, and their moderation (contract section 11)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import CursorRequest, RequestedPage, respond_page
from common.web.schemas import EmptyRequest
from orders.dependencies import Dependencies
from orders.domain.reviews import ReviewContent
from orders.queries.reviews import (
    find_public_review,
    find_rating,
    find_review,
    page_of_moderated_reviews,
    page_of_reviews,
)
from orders.responses.reviews import OwnReview, Review, ReviewList, ReviewMeta
from orders.schemas.reviews import CreateReviewRequest, HideReviewRequest, ModerationQuery, ReplyToReviewRequest
from orders.use_cases.reviews.hide_review import hide_review as hide
from orders.use_cases.reviews.post_review import post_review
from orders.use_cases.reviews.reply_to_review import reply_to_review as reply
from orders.use_cases.reviews.restore_review import restore_review as restore

endpoint = Endpoints("reviews")

OF_VENDOR: Final = "/api/vendors/{vendor_id}/reviews"
OF_PRODUCT: Final = "/api/products/{product_id}/reviews"


@endpoint("GET", OF_VENDOR, id="reviews.listByVendor", returns=ReviewList, allow=PUBLIC, compressed=True)
async def list_reviews_of_vendor(
    request: Request, caller: CurrentCaller, vendor_id: UUID, requested: RequestedPage
) -> Response:
    """List reviews of the vendor, newest first; `meta` has the mean rating."""
    return await _list(request, caller, requested, vendor_id=vendor_id)


@endpoint("GET", OF_PRODUCT, id="reviews.listByProduct", returns=ReviewList, allow=PUBLIC, compressed=True)
async def list_reviews_of_product(
    request: Request, caller: CurrentCaller, product_id: UUID, requested: RequestedPage
) -> Response:
    """List reviews of the product, newest first; `meta` has the mean rating."""
    return await _list(request, caller, requested, product_id=product_id)


@endpoint(
    "POST", OF_VENDOR, id="reviews.createForVendor", returns=OwnReview, status=201, allow=permission("orders:place")
)
async def create_review_of_vendor(
    request: Request, caller: CurrentCaller, vendor_id: UUID, body: CreateReviewRequest
) -> Response:
    """Review the vendor as the buyer of a delivered order, once for each order."""
    return await _post(request, caller, ReviewContent(body.order_id, body.rating, body.text, vendor_id=vendor_id))


@endpoint(
    "POST", OF_PRODUCT, id="reviews.createForProduct", returns=OwnReview, status=201, allow=permission("orders:place")
)
async def create_review_of_product(
    request: Request, caller: CurrentCaller, product_id: UUID, body: CreateReviewRequest
) -> Response:
    """Review the product as the buyer of a delivered order with it, once for each order."""
    return await _post(request, caller, ReviewContent(body.order_id, body.rating, body.text, product_id=product_id))


@endpoint("GET", "/api/reviews", id="reviews.list", returns=list[OwnReview], allow=permission("reviews:read"))
async def list_reviews(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    query: Annotated[ModerationQuery, Query()],
) -> Response:
    """List all reviews for staff, hidden ones included, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    filters = query.model_dump(by_alias=True, exclude_none=True)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_moderated_reviews(uow, requested, caller, filters)
    return respond_page(request, page)


@endpoint(
    "POST", "/api/reviews/{review_id}/hide", id="reviews.hide", returns=OwnReview, allow=permission("reviews:moderate")
)
async def hide_review(request: Request, caller: CurrentCaller, review_id: UUID, body: HideReviewRequest) -> Response:
    """Hide the review from the public; its author still sees it with the reason."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await hide(uow, caller, review_id, body.reason, now=dependencies.clock.now())
        review = await find_review(uow, review_id)
    return ok(request, or_not_found(review))


@endpoint(
    "POST",
    "/api/reviews/{review_id}/restore",
    id="reviews.restore",
    returns=OwnReview,
    allow=permission("reviews:moderate"),
)
async def restore_review(
    request: Request, caller: CurrentCaller, review_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Show a hidden review to the public again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await restore(uow, review_id)
        review = await find_review(uow, review_id)
    return ok(request, or_not_found(review))


@endpoint(
    "POST",
    "/api/reviews/{review_id}/reply",
    id="reviews.reply",
    returns=Review,
    status=201,
    allow=permission("catalog:own"),
)
async def reply_to_review(
    request: Request, caller: CurrentCaller, review_id: UUID, body: ReplyToReviewRequest
) -> Response:
    """Reply once to a review of the own vendor or of its products; the reply is public."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await reply(uow, caller, review_id, body.text, now=dependencies.clock.now())
        review = await find_public_review(uow, review_id)
    return ok(request, or_not_found(review), status=201)


async def _list(request: Request, caller: CurrentCaller, requested: CursorRequest, **subject: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    rating = or_not_found(await find_rating(dependencies.database, **subject))
    page = await page_of_reviews(dependencies.database, requested, caller, **subject)
    return respond_page(request, page, ReviewMeta, **rating._asdict())


async def _post(request: Request, caller: CurrentCaller, content: ReviewContent) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        review_id = await post_review(uow, caller, content, now=dependencies.clock.now())
        review = await find_review(uow, review_id)
    return ok(request, or_not_found(review), status=201)
