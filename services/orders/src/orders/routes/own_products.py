"""A merchant's own products (contract section 11)."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import permission
from common.primitives.problems import ValidationFailed
from common.primitives.revisions import IfMatch, revision_meant
from common.web.endpoint_table import Media
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from common.web.uploads import read_image
from orders.dependencies import Dependencies
from orders.domain.errors import NoVendor
from orders.domain.images import image_id_of, image_name, thumbnail_name
from orders.domain.products import normalize_category
from orders.domain.variants import Option, RequestedVariant
from orders.queries.own_products import OwnProductFilter, find_own_product, page_of_own_products
from orders.responses.products import OwnProduct, ProductImage, ProductStatus
from orders.schemas.own_products import (
    CreateProductRequest,
    OptionBody,
    ReplaceProductRequest,
    ReplaceVariantsRequest,
    UpdateProductRequest,
    VariantBody,
)
from orders.use_cases.products.attach_image import attach_image
from orders.use_cases.products.change_product import change_product
from orders.use_cases.products.check_image_upload import check_image_upload
from orders.use_cases.products.create_product import ProductContent
from orders.use_cases.products.create_product import create_product as create
from orders.use_cases.products.detach_image import detach_image
from orders.use_cases.products.remove_product import remove_product
from orders.use_cases.products.replace_variants import replace_variants as replace

endpoint = Endpoints("products")


@endpoint(
    "POST",
    "/api/products",
    id="products.create",
    returns=OwnProduct,
    status=201,
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def create_product(request: Request, caller: CurrentCaller, body: CreateProductRequest) -> Response:
    """Publish a product, or saves it as a draft that only its merchant sees. With variants, price and stock are
    theirs.
    """
    dependencies = dependencies_of(request, Dependencies)
    if not body.variants and (body.price_minor is None or body.stock is None):
        raise ValidationFailed.of("priceMinor" if body.price_minor is None else "stock", "is required without variants")
    content = ProductContent(
        body.name,
        body.description,
        normalize_category(body.category),
        body.price_minor or 0,
        body.stock or 0,
        body.status == "draft",
        body.condition,
        _options(body.options),
        _variants(body.variants),
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        product_id = await create(uow, content, vendor_id=caller.vendor_id, now=now)
        product = await find_own_product(uow, product_id, _vendor_of(caller), now=now, media_url=dependencies.media_url)
    return ok(request, or_not_found(product), status=201)


def _filter_of(
    status: Annotated[ProductStatus | None, Query()] = None,
    text: Annotated[
        QueryText | None, Query(alias="q", min_length=1, max_length=100, description="A part of the name.")
    ] = None,
    low_stock: Annotated[
        bool | None, Query(alias="lowStock", description="Whether at most 5 are left; without it all products.")
    ] = None,
) -> OwnProductFilter:
    return OwnProductFilter(status, text, low_stock)


@endpoint(
    "GET",
    "/api/products/mine",
    id="products.listMine",
    returns=list[OwnProduct],
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def list_own_products(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    narrowed: Annotated[OwnProductFilter, Depends(_filter_of)],
) -> Response:
    """Return the merchant's products, newest first, drafts and removed products included."""
    dependencies = dependencies_of(request, Dependencies)
    vendor_id, media_url = _vendor_of(caller), dependencies.media_url
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        page = await page_of_own_products(uow, requested, vendor_id, narrowed, now=now, media_url=media_url)
    return respond_page(request, page)


@endpoint(
    "PUT",
    "/api/products/{product_id}",
    id="products.replace",
    returns=OwnProduct,
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def replace_product(
    request: Request, caller: CurrentCaller, product_id: UUID, body: ReplaceProductRequest, if_match: IfMatch = None
) -> Response:
    """Replace all fields of a product except its images. A stale revision is 409."""
    fields = body.model_dump(exclude={"revision"})
    return await _change(request, caller, product_id, fields, revision_meant(if_match, body.revision), whole=True)


@endpoint(
    "PUT",
    "/api/products/{product_id}/variants",
    id="products.replaceVariants",
    returns=OwnProduct,
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def replace_product_variants(
    request: Request, caller: CurrentCaller, product_id: UUID, body: ReplaceVariantsRequest, if_match: IfMatch = None
) -> Response:
    """Replace the options and variants. A variant with orders is deactivated, never deleted. A stale revision is
    409.
    """
    dependencies = dependencies_of(request, Dependencies)
    revision = revision_meant(if_match, body.revision)
    options, variants = _options(body.options), _variants(body.variants)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await replace(uow, product_id, options, variants, vendor_id=caller.vendor_id, revision=revision, now=now)
        product = await find_own_product(uow, product_id, _vendor_of(caller), now=now, media_url=dependencies.media_url)
    return ok(request, or_not_found(product))


@endpoint(
    "PATCH",
    "/api/products/{product_id}",
    id="products.update",
    returns=OwnProduct,
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def update_product(
    request: Request, caller: CurrentCaller, product_id: UUID, body: UpdateProductRequest, if_match: IfMatch = None
) -> Response:
    """Change the given fields; `{stock, revision}` sets a counted inventory. A stale revision is 409."""
    fields = body.model_dump(exclude={"revision"}, exclude_unset=True)
    return await _change(request, caller, product_id, fields, revision_meant(if_match, body.revision))


@endpoint(
    "DELETE",
    "/api/products/{product_id}",
    id="products.delete",
    status=204,
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def delete_product(
    request: Request, caller: CurrentCaller, product_id: UUID, if_match: IfMatch = None
) -> Response:
    """Remove a product from sale; its open orders continue. Removing it again has no effect."""
    dependencies = dependencies_of(request, Dependencies)
    revision = revision_meant(if_match, None)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await remove_product(uow, product_id, vendor_id=caller.vendor_id, revision=revision, now=now)
    return Response(status_code=204)


@endpoint(
    "POST",
    "/api/products/{product_id}/images",
    id="products.addImage",
    returns=ProductImage,
    status=201,
    allow=permission("catalog:own").for_keys("shop_products:write"),
    media=Media.IMAGE,
)
async def add_product_image(request: Request, caller: CurrentCaller, product_id: UUID) -> Response:
    """Accept a JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, and store it re-encoded without metadata."""
    dependencies = dependencies_of(request, Dependencies)
    content = await read_image(request)
    image_id = image_id_of(product_id, content)
    made = await dependencies.image_processor.render(content)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await check_image_upload(uow, product_id, image_id, vendor_id=caller.vendor_id, now=dependencies.clock.now())
    # Stored before a row refers to the files, and outside of any transaction.
    await dependencies.media.put(image_name(image_id), made.image)
    await dependencies.media.put(thumbnail_name(image_id), made.thumbnail)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await attach_image(uow, product_id, image_id, vendor_id=caller.vendor_id, now=now)
        product = await find_own_product(uow, product_id, _vendor_of(caller), now=now, media_url=dependencies.media_url)
    product = or_not_found(product)
    url = f"{dependencies.media_url}/{image_id}"
    image = ProductImage(
        id=image_id,
        url=url,
        thumbnail_url=f"{url}/thumbnail",
        product_id=product_id,
        images=product.images,
        revision=product.revision,
    )
    return ok(request, image, status=201)


@endpoint(
    "DELETE",
    "/api/products/{product_id}/images/{image_id}",
    id="products.removeImage",
    status=204,
    allow=permission("catalog:own").for_keys("shop_products:write"),
)
async def remove_product_image(request: Request, caller: CurrentCaller, product_id: UUID, image_id: UUID) -> Response:
    """Remove an image from the product. Removing it again has no effect."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await detach_image(uow, product_id, image_id, vendor_id=caller.vendor_id, now=now)
    return Response(status_code=204)


async def _change(
    request: Request,
    caller: Caller,
    product_id: UUID,
    fields: dict[str, Any],
    revision: int | None,
    *,
    whole: bool = False,
) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    if "category" in fields:
        fields["category"] = normalize_category(fields["category"])
    if "status" in fields:
        fields["draft"] = fields.pop("status") == "draft"
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await change_product(
            uow, product_id, fields, vendor_id=caller.vendor_id, revision=revision, now=now, whole=whole
        )
        product = await find_own_product(uow, product_id, _vendor_of(caller), now=now, media_url=dependencies.media_url)
    return ok(request, or_not_found(product))


def _options(bodies: Sequence[OptionBody]) -> list[Option]:
    return [Option(body.name, tuple(body.values)) for body in bodies]


def _variants(bodies: Sequence[VariantBody]) -> list[RequestedVariant]:
    return [RequestedVariant(**body.model_dump()) for body in bodies]


def _vendor_of(caller: Caller) -> UUID:
    if caller.vendor_id is None:
        raise NoVendor
    return caller.vendor_id
