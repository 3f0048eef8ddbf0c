"""Flash sales that staff propose to a vendor."""

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list
from console.pages.campus.names import own_campus
from console.parts import lagos_instant
from console.visit import Visit

SCREENS = Screens()

FLASH_SALES = ListView(
    "/api/flash-sales",
    columns=(
        Column("Product", "productName", link="/campus-flash-sales/{id}"),
        Column("Status", lambda one: spoken(one["status"]), "badge"),
        Column("Price", "priceMinor", "naira"),
        Column("Regular price", "regularPriceMinor", "naira"),
        Column("Left", lambda one: f"{one['remaining']} of {one['quantity']}", "number"),
        Column("Starts", "startsAt", "time"),
        Column("Ends", "endsAt", "time"),
    ),
    filters=(Filter("status", "Status"),),
    empty="No flash sale is listed. Propose one below: it needs the vendor's consent.",
)
PROPOSERS: Final = ("flash_sales:propose",)


@SCREENS.page("/campus-flash-sales", title="Flash sales of the campus", any_of=PROPOSERS, menu="Flash sales")
async def flash_sales_page(visit: Visit) -> Response:
    view = replace(FLASH_SALES, fixed={"campusId": own_campus(visit)})
    words = visit.query.get("product", "")
    found = []
    if words:
        rows = await visit.api.page("/api/products", campusId=own_campus(visit), q=words, limit=20)
        found = rows.items
    return await show_list(visit, view, "campus/flash_sales.html", words=words, products=found)


@SCREENS.page("/campus-flash-sales/propose/{id:uuid}", title="Propose a flash sale", any_of=PROPOSERS)
async def propose_page(visit: Visit) -> Response:
    product: Json = await visit.api.get(f"/api/products/{visit['id']}")
    return visit.render("campus/propose.html", product=product)


@SCREENS.action("/campus-flash-sales/propose/{id:uuid}", any_of=PROPOSERS, page=propose_page)
async def propose_flash_sale(visit: Visit) -> Response:
    body = {
        "productId": visit["id"],
        "priceMinor": visit.form.minor("priceMinor"),
        "quantity": visit.form.number("quantity"),
        "perBuyerLimit": visit.form.number("perBuyerLimit"),
        "startsAt": lagos_instant(visit, "startsAt"),
        "endsAt": lagos_instant(visit, "endsAt"),
    }
    sale: Json = await visit.api.post("/api/flash-sales", body)
    return visit.go(
        f"/campus-flash-sales/{sale['id']}", "The flash sale is proposed. It waits for the vendor's consent."
    )


@SCREENS.page("/campus-flash-sales/{id:uuid}", title="Flash sale", any_of=PROPOSERS)
async def flash_sale_page(visit: Visit) -> Response:
    sale: Json = await visit.api.get(f"/api/flash-sales/{visit['id']}")
    try:
        vendor: Json = await visit.api.get(f"/api/vendors/{sale['vendorId']}")
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        vendor = {}
    return visit.render("campus/flash_sale.html", title=f"Flash sale: {sale['productName']}", sale=sale, vendor=vendor)


@SCREENS.action("/campus-flash-sales/{id:uuid}/end", any_of=PROPOSERS, page=flash_sale_page)
async def end_flash_sale(visit: Visit) -> Response:
    await visit.api.post(f"/api/flash-sales/{visit['id']}/end")
    return visit.go(f"/campus-flash-sales/{visit['id']}", "The flash sale is ended.")
