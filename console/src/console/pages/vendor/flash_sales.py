"""A vendor's flash sales, and those that staff propose."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import naira
from console.lists import Column, Filter, ListView, show_list
from console.parts import all_rows, command, lagos_instant, needed
from console.visit import Visit

SCREENS = Screens()

SALES_KEEPER: Final = ("flash_sales:keep",)

FLASH_SALES = ListView(
    "/api/flash-sales",
    columns=(
        Column("Product", "productName", link="/flash-sales/{id}"),
        Column("Status", "status", "badge"),
        Column("Price", "priceMinor", "naira"),
        Column("Instead of", "regularPriceMinor", "naira"),
        Column("Left", lambda sale: f"{sale['remaining']} of {sale['quantity']}"),
        Column("Starts", "startsAt", "time"),
        Column("Ends", "endsAt", "time"),
    ),
    filters=(Filter("status", "Status"),),
    empty="No sale runs or is planned. A sale sells a limited quantity at a lower price for a time.",
)


@SCREENS.page("/flash-sales", title="Flash sales", any_of=SALES_KEEPER, menu="Flash sales")
async def flash_sales_page(visit: Visit) -> Response:
    fixed = {"vendorId": visit.user.vendor_id or ""}
    view = ListView(FLASH_SALES.path, FLASH_SALES.columns, FLASH_SALES.filters, FLASH_SALES.empty, fixed)
    return await show_list(visit, view, "vendor/flash_sales.html")


@SCREENS.page("/flash-sales/new", title="New flash sale", any_of=SALES_KEEPER)
async def new_flash_sale_page(visit: Visit) -> Response:
    products = await all_rows(visit, "/api/products/mine", status="published")
    sold = [one for product in products for one in await _sold_units(visit, product)]
    chosen = next((value for value, _ in sold if value.startswith(visit.query.get("product") or "-")), "")
    return visit.render("vendor/new_flash_sale.html", options=sold, chosen=chosen)


async def _sold_units(visit: Visit, product: Json) -> list[tuple[str, str]]:
    """Return the options of the choice: the product, or each of its variants, which its list leaves out."""
    if not product["options"]:
        return [(product["id"], f"{product['name']} ({naira(product['priceMinor'])}, {product['stock']} in stock)")]
    variants = (await visit.api.get(f"/api/products/{product['id']}"))["variants"]
    return [
        (
            f"{product['id']} {one['id']}",
            f"{product['name']}, {', '.join(one['values'].values())} "
            f"({naira(one['priceMinor'])}, {one['stock']} in stock)",
        )
        for one in variants
        if one["active"]
    ]


@SCREENS.action("/flash-sales/new", any_of=SALES_KEEPER, page=new_flash_sale_page)
async def create_flash_sale(visit: Visit) -> Response:
    form = visit.form
    product_id, _, variant_id = form["productId"].partition(" ")
    body = {
        "productId": product_id,
        **({"variantId": variant_id} if variant_id else {}),
        "priceMinor": needed(form.minor("priceMinor"), "priceMinor"),
        "quantity": needed(form.number("quantity"), "quantity"),
        "perBuyerLimit": needed(form.number("perBuyerLimit"), "perBuyerLimit"),
        "startsAt": lagos_instant(visit, "startsAt"),
        "endsAt": lagos_instant(visit, "endsAt"),
    }
    sale = await visit.api.post("/api/flash-sales", body)
    return visit.go(f"/flash-sales/{sale['id']}", "The sale is planned.")


@SCREENS.page("/flash-sales/{id:uuid}", title="Flash sale", any_of=SALES_KEEPER)
async def flash_sale_page(visit: Visit) -> Response:
    sale: Json = await visit.api.get(f"/api/flash-sales/{visit['id']}")
    return visit.render("vendor/flash_sale.html", title=f"Sale of {sale['productName']}", sale=sale)


@SCREENS.action("/flash-sales/{id:uuid}/approve", any_of=SALES_KEEPER, page=flash_sale_page)
async def approve_flash_sale(visit: Visit) -> Response:
    """Approve a sale that staff proposed, under the terms that the page showed."""
    return await command(visit, {"hash": visit.form["hash"]}, "The sale is approved.")


@SCREENS.action("/flash-sales/{id:uuid}/end", any_of=SALES_KEEPER, page=flash_sale_page)
async def end_flash_sale(visit: Visit) -> Response:
    await visit.api.post(f"/api/flash-sales/{visit['id']}/end")
    return visit.go("/flash-sales", "The sale is ended. Placed orders keep their price.")
