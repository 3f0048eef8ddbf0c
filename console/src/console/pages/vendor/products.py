"""A vendor's products with their images and stock."""

import asyncio
import hashlib
from typing import Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.choices import api_values, choices
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list
from console.parts import command, needed, part
from console.visit import Form, Visit

SCREENS = Screens()

CATALOG: Final = ("catalog:own",)
PRODUCT_STATES: Final = (("published", "published"), ("draft", "draft (only you see it)"))
CATEGORIES: Final = choices(
    "meals",
    "snacks",
    "drinks",
    "groceries",
    "phone-accessories",
    "power",
    "audio",
    "computing",
    "stationery",
    "hostel",
    "other",
)
"""Those that the shop lists and draws; a product of the API or of a file keeps another."""
CONDITIONS: Final = choices(*api_values("/api/products", "condition"))
VARIANT_COLUMNS: Final = (
    Column("Variant", lambda variant: ", ".join(variant["values"].values())),
    Column("SKU", "sku"),
    Column("Price", "priceMinor", "naira"),
    Column("Stock", "stock", "number"),
    Column("Sold", lambda variant: "yes" if variant["active"] else "no"),
)


def rating_of(product: Json) -> str:
    return f"{product['rating']:.1f} ({product['ratingCount']})" if product.get("ratingCount") else ""


def _stock_state(product: Json) -> str:
    """Return the warning about the stock; empty where enough is left."""
    return "" if not product["lowStock"] else "low" if product["stock"] else "sold out"


PRODUCTS = ListView(
    "/api/products/mine",
    columns=(
        Column("Photo", lambda product: next(iter(product["images"]), None), "image"),
        Column("Product", "name", link="/products/{id}"),
        Column("Price", "priceMinor", "naira"),
        Column("Stock", "stock", "number"),
        Column("Left", _stock_state, "badge"),
        Column("Status", "status", "badge"),
        Column("Category", "category"),
        Column("Rating", rating_of),
        Column("Condition", lambda product: spoken(product["condition"])),
        Column("Images", lambda product: len(product["images"]), "number"),
    ),
    filters=(
        Filter("q", "Name", kind="search"),
        Filter("status", "Status"),
        Filter("lowStock", "Stock", (("true", "low or sold out"), ("false", "enough"))),
    ),
    empty="No product yet. Add the first one: buyers see it at once.",
)


@SCREENS.page("/products", title="Products", any_of=CATALOG, menu="Products", icon="products")
async def products_page(visit: Visit) -> Response:
    return await show_list(visit, PRODUCTS, "vendor/products.html")


@SCREENS.page("/products/new", title="New product", any_of=CATALOG)
async def new_product_page(visit: Visit) -> Response:
    return visit.render("vendor/new_product.html", states=PRODUCT_STATES, conditions=CONDITIONS, categories=CATEGORIES)


@SCREENS.action("/products/new", any_of=CATALOG, page=new_product_page)
async def create_product(visit: Visit) -> Response:
    product = await visit.api.post("/api/products", {**_product_fields(visit.form), "stock": _stock(visit.form)})
    page = f"/products/{product['id']}"
    if "file" not in visit.form.files:
        return visit.go(page, "The product is saved. Add images now.")
    try:
        await visit.api.post(f"/api{page}/images", files={"file": await visit.form.image("file")})
    except ApiProblem as problem:
        if problem.status >= 500:
            raise
        return visit.go(page, f"The product is saved. Its photo was refused: {problem.detail or problem.title}")
    return visit.go(page, "The product is saved with its photo.")


@SCREENS.page("/products/{id:uuid}", title="Product", any_of=CATALOG)
async def product_page(visit: Visit) -> Response:
    product, reviews = await asyncio.gather(
        own_product(visit),
        part(visit, f"/api/products/{visit['id']}/reviews", limit=20),
    )
    return visit.render(
        "vendor/product.html",
        title=product["name"],
        product=product,
        images=[(url.rsplit("/", 1)[-1], url) for url in product["images"]],
        reviews=reviews or [],
        states=PRODUCT_STATES,
        conditions=CONDITIONS,
        categories=_categories_with(product["category"]),
        columns=VARIANT_COLUMNS,
        read=_details_hash(product),
    )


def _categories_with(current: str) -> tuple[tuple[str, str], ...]:
    """Return the choice with the product's own category, which may be none of the list."""
    return CATEGORIES if current in dict(CATEGORIES) else ((current, current), *CATEGORIES)


_NOT_YOURS: Final = "The product is another vendor's, or does not exist."


@SCREENS.action("/products/{id:uuid}/edit", any_of=CATALOG, page=product_page)
async def edit_product(visit: Visit) -> Response:
    """Change the details. A sale since the page was opened is no conflict: it changed the stock alone."""
    fields = _product_fields(visit.form)
    try:
        await _change(visit, fields, visit.form.number("revision"))
    except ApiProblem as problem:
        if problem.status != 409:
            raise
        product = await own_product(visit)
        if _details_hash(product) != visit.form["read"]:
            raise
        await _change(visit, fields, product["revision"])
    return visit.go(f"/products/{visit['id']}", "The product is saved.")


@SCREENS.action("/products/{id:uuid}/stock", any_of=CATALOG, page=product_page)
async def set_stock(visit: Visit) -> Response:
    """Set a counted stock. It is refused when orders changed the stock since the page was opened."""
    counted = _stock(visit.form)
    try:
        await _change(visit, {"stock": counted}, visit.form.number("revision"))
    except ApiProblem as problem:
        if problem.status != 409:
            raise
        stock = (await own_product(visit))["stock"]
        # The form shows the current stock: pressed again, it changes nothing.
        visit.form = Form([])
        detail = f"In stock now: {stock}. An order changed it since you counted {counted}: count again."
        raise ApiProblem(409, {**problem.extensions, "detail": detail}) from problem
    return visit.go(f"/products/{visit['id']}", "The stock is saved.")


async def own_product(visit: Visit) -> Json:
    """Return the product of the path. Raises ApiProblem (404) for another vendor's."""
    # The public form of a product has no status.
    product = {"status": "published", **await visit.api.get(f"/api/products/{visit['id']}")}
    if product["vendorId"] != visit.user.vendor_id:
        raise ApiProblem(404, {"code": "RESOURCE_NOT_FOUND", "title": "Not found", "detail": _NOT_YOURS})
    return product


async def _change(visit: Visit, fields: Json, revision: int | None) -> None:
    try:
        await visit.api.patch(f"/api/products/{visit['id']}", {**fields, "revision": revision})
    except ApiProblem as problem:
        if problem.status != 409:
            raise
        # A second click of the same form finds its own change: it has one effect, and is no error.
        product = await own_product(visit)
        if any(product.get(name) != value for name, value in fields.items()):
            raise


def _details_hash(product: Json) -> str:
    """Return the details that the form was opened with; the stock is none of them."""
    details = [product.get(name) for name in ("name", "description", "category", "priceMinor", "status", "condition")]
    return hashlib.sha256(repr(details).encode()).hexdigest()


@SCREENS.action("/products/{id:uuid}/withdraw", any_of=CATALOG, page=product_page)
async def withdraw_product(visit: Visit) -> Response:
    await visit.api.delete(f"/api/products/{visit['id']}")
    return visit.go("/products", "The product is withdrawn. Open orders continue.")


@SCREENS.action("/products/{id:uuid}/images", any_of=CATALOG, page=product_page)
async def add_image(visit: Visit) -> Response:
    return await command(visit, None, "The image is added.", files={"file": await visit.form.image("file")})


@SCREENS.action("/products/{id:uuid}/images/{image_id:uuid}/remove", any_of=CATALOG, page=product_page)
async def remove_image(visit: Visit) -> Response:
    await visit.api.delete(f"/api/products/{visit['id']}/images/{visit['image_id']}")
    return visit.go(f"/products/{visit['id']}", "The image is removed.")


def _product_fields(form: Form) -> Json:
    return {
        "name": form["name"],
        "description": form["description"],
        "category": " ".join(form["category"].lower().split()),
        "status": form["status"] or "published",
        "condition": form["condition"] or "new",
        # The form of a product with variants has no price.
        **({"priceMinor": needed(form.minor("priceMinor"), "priceMinor")} if "priceMinor" in form else {}),
    }


def _stock(form: Form) -> int:
    return needed(form.number("stock"), "stock")
